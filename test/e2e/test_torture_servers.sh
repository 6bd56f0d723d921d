#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, what follows the system calls (test/torture/torture.c) knows glibc only
# timeout: 3600
# nightly: 3
#
# test_torture_servers.sh: likewise redis-server and nginx, which a client asks, while another one asks for profiles.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/torture.sh
. "$SRC/test/e2e/torture.sh"
need python3
export cpprof="$BUILD/bin/cpprof" work

# serve COMMAND...: starts it; $pid. answers COMMAND...: waits until that succeeds, or the server is gone.
cat >serve.sh <<'SH'
rm -f "$work/socket"
serve() {
    $TORTURE_PRELOAD "$@" >/dev/null &
    pid=$!
}
answers() {
    until "$@" >/dev/null 2>&1; do
        kill -0 $pid || break
        sleep 0.01
    done
}
profiles() { # of the server's own client; whatever becomes of them
    case $TORTURE_PRELOAD in
    *http=unix:*)
        at=${TORTURE_PRELOAD##*http=} at=${at%%,*}
        for name in 'profile?now=1' 'thread?debug=2'; do
            timeout 10 "$cpprof" raw "$at:/debug/pprof/$name" >/dev/null 2>&1
        done
        ;;
    esac
}
SH

if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
    cat >redis.sh <<'SH'
. "$work/serve.sh"
serve redis-server --port 0 --unixsocket "$work/socket" --save '' --appendonly no
answers redis-cli -s "$work/socket" ping
awk 'BEGIN { for (i = 0; i < 200; i++) printf "set key%d %d\nlpush list%d %d\n", i, i * i, i % 10, i; print "dbsize"; print "lrange list3 0 4" }' |
    redis-cli -s "$work/socket" | sort | uniq -c
profiles
redis-cli -s "$work/socket" shutdown nosave
wait $pid
echo "status $?"
SH
    torture_server redis "cpu:1000,heap:4k,mutex,block,fd,thread,$profiles" sh redis.sh
    torture_server redis-http "cpu=shared,heap:4k,http=unix:%D/http.sock,control=%D/c.sock,$profiles" sh redis.sh
fi

if command -v nginx >/dev/null && configure_nginx ""; then
    sed 's/^daemon off;/daemon off; master_process off;/' nginx.conf >alone.conf
    cat >ask.py <<'PY'
import socket, sys
for n in range(20):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    client.sendall(b"GET /ask.py HTTP/1.0\r\n\r\n")
    answer = b"".join(iter(lambda: client.recv(65536), b""))
    if n == 0:
        print(answer.split(b"\r\n")[0], answer.endswith(open(sys.argv[2], "rb").read()))
PY
    cat >nginx.sh <<'SH'
. "$work/serve.sh"
serve nginx -c "$work/alone.conf"
answers python3 "$work/ask.py" "$work/socket" "$work/ask.py"
python3 -S "$work/ask.py" "$work/socket" "$work/ask.py"
kill -QUIT $pid
wait $pid
echo "status $?"
SH
    torture_server nginx "$all_kinds,$profiles" sh nginx.sh
fi
echo ok
