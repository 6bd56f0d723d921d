#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_fd_real.sh: the fd profiles of programs that do not know of it: as many descriptors as they
# have open, and the connections that are open are where they accept.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout
[ -x /usr/bin/python3 ] || absent /usr/bin/python3

# weight_of_leaves RAW REGULAR_EXPRESSION
weight_of_leaves() {
    stacks "$1" | awk -F '\t' -v leaf="^($2)\$" '$2 ~ leaf { sum += $1 } END { print sum + 0 }'
}

# ---- python: as many as it sees itself ----

preload "fd,file=$work/python.pb.gz" /usr/bin/python3 - >python.out <<'PYTHON'
import os, select, socket, subprocess, tempfile, threading
kept = [os.open("/etc/passwd", os.O_RDONLY) for _ in range(20)]
os.close(kept.pop())
files = [open("/etc/passwd") for _ in range(10)]
sockets = socket.socketpair(), socket.socket()
poll = select.epoll()
def leak():
    for _ in range(50):
        os.close(os.dup(0))
        files.append(tempfile.TemporaryFile())
        files.pop(0)
threads = [threading.Thread(target=leak) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert subprocess.run(["true"], close_fds=True).returncode == 0
print(len(os.listdir("/proc/self/fd")) - 1, flush=True)
os._exit(0)
PYTHON
raw python.pb.gz
expect_equal "descriptors of python" "$(cat python.out)" "$(weight python.pb.gz.raw)"
expect_equal "files that python opened" 29 "$(weight_of_leaves python.pb.gz.raw 'open(64)?')"
expect_equal "sockets of python" 3 "$(weight_of_leaves python.pb.gz.raw 'socket|socketpair')"
expect_equal "unseen" 0 "$(weight_of_leaves python.pb.gz.raw pprof_unseen_descriptor)"

# ---- servers ----

cat >hold.py <<'PYTHON'
# hold.py SOCKET PID COUNT REQUEST END: that many connections, a request on each, time after time; they
# are open when the server is ended, which has closed all others.
import os, signal, socket, sys
path, pid, count, request, end = sys.argv[1:]
request, end = (text.encode().decode("unicode_escape").encode() for text in (request, end))
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s
def ask(s):
    s.sendall(request)
    answer = b""
    while end not in answer:
        part = s.recv(65536)
        assert part, answer
        answer += part
held = [connect() for _ in range(int(count))]
for _ in range(20):
    for s in held:
        ask(s)
    short = connect()
    ask(short)
    short.shutdown(socket.SHUT_WR)
    while short.recv(65536):
        pass
for s in held:
    ask(s)
os.kill(int(pid), signal.SIGTERM)
for s in held:
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        pass
PYTHON

if command -v redis-server >/dev/null; then
    env LIBPPROF="fd,file=$work/redis.pb.gz" LD_PRELOAD="$library" redis-server --port 0 \
        --unixsocket "$work/redis.socket" --save '' >redis.log 2>&1 &
    server=$!
    started="$started $server"
    wait_until test -S redis.socket
    timeout -s KILL 60 /usr/bin/python3 hold.py redis.socket $server 30 'PING\r\n' 'PONG\r\n'
    ended=0
    wait $server || ended=$?
    expect_equal "status of redis-server after SIGTERM" 0 "$ended"
    raw redis.pb.gz
    expect_equal "connections of redis" 30 "$(weight_of_leaves redis.pb.gz.raw 'accept4?')"
fi

if command -v nginx >/dev/null; then
    echo "a page" >page
    mkdir profiles
    if configure_nginx "keepalive_requests 1000; open_file_cache max=10;"; then
        env LIBPPROF="fd,subprocesses,file=$work/profiles/%p.pb.gz" LD_PRELOAD="$library" \
            nginx -c "$work/nginx.conf" 2>messages &
        server=$!
        started="$started $server"
        wait_until test -S socket
        timeout -s KILL 60 /usr/bin/python3 hold.py socket $server 25 \
            'GET /page HTTP/1.1\r\nHost: a\r\n\r\n' 'a page\n'
        ended=0
        wait $server || ended=$?
        expect_equal "status of nginx after SIGTERM" 0 "$ended"
        for file in profiles/*.pb.gz; do
            raw "$file"
            weight_of_leaves "$file.raw" 'accept4?'
        done | sort -n | tr '\n' ' ' >accepted
        expect_equal "connections of nginx's master and worker" "0 25 " "$(cat accepted)"
        # The file cache holds the page open.
        expect_at_least "files that the worker has open" 1 "$(for file in profiles/*.raw; do
            weight_of_leaves "$file" 'open(64)?'
        done | sort -n | tail -n 1)"
    fi
fi
echo ok
