#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_nginx.sh: CPU time and heap of a master and a worker by fork, titles written over argv, ended by SIGQUIT.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go nginx
[ -x /usr/bin/python3 ] || absent /usr/bin/python3

seq 20000 >page
configure_nginx "gzip on; gzip_types *; gzip_min_length 1; gzip_comp_level 9;" ||
    skip "nginx does not take this configuration"
mkdir profiles
env LIBPPROF="cpu:1000,heap:1,subprocesses,file=$work/profiles/%e.%p.%k.pb.gz" LD_PRELOAD="$library" \
    nginx -c "$work/nginx.conf" 2>messages &
server=$!
started="$started $server"
wait_until test -S socket
/usr/bin/python3 - <<'PYTHON'
import socket
for _ in range(60):
    s = socket.socket(socket.AF_UNIX)
    s.connect("socket")
    s.sendall(b"GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n")
    answer = b""
    while True:
        part = s.recv(65536)
        if not part:
            break
        answer += part
    assert answer.startswith(b"HTTP/1.1 200"), answer[:80]
PYTHON
kill -QUIT $server
ended=0
wait $server || ended=$?
expect_equal "status of nginx after SIGQUIT" 0 "$ended"
worked=0
for file in profiles/*.cpu.pb.gz; do
    expect_whole "$file"
    [ "$(weight_with "$file.raw" deflate)" -lt 50 ] || worked=$((worked + 1))
done
expect_equal "CPU profiles in which pages are compressed, of: $(ls profiles)" 1 $worked
expect_equal "profiles named after the program, not its title" 4 "$(find profiles -name 'nginx.*.pb.gz' | wc -l)"

# The worker's pools and gzip's windows, by name or, in a stripped nginx, by zlib's functions.
count=0
for file in profiles/*.heap.pb.gz; do
    raw "$file"
    ! grep -q lost "$file.raw" || fail "lost samples in $file"
    [ "$(field 1 "$(blocks_of "$file.raw")")" -lt 100 ] || count=$((count + 1))
done
expect_equal "heap profiles with more than 100 blocks, of: $(ls profiles)" 2 $count
expect_at_least "blocks of the worker" 600 "$(for file in profiles/*.heap.pb.gz.raw; do
    field 1 "$(blocks_of "$file")"
done | sort -n | tail -n 1)"
echo ok
