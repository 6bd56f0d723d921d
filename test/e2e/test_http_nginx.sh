#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 300
#
# test_http_nginx.sh: nginx with http=: the master answers, its workers have no server; it reloads and ends as ever. One that
# makes itself a daemon leaves the server behind.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need nginx python3

answers() { python3 "$ask" "$url/cmdline" 2>/dev/null | sed -n 1p | grep -qx 200; }
is_deaf() { ! answers; }
# with_server PROCESS...: how many of them have a server's thread.
with_server() {
    for process in "$@"; do
        cat "/proc/$process/task"/*/comm
    done | grep -cx libpprof-http || true
}
workers() { cat "/proc/$server/task/$server/children"; }
has_workers() { [ -n "$(workers)" ]; }
page() {
    python3 -c 'import socket
client = socket.socket(socket.AF_UNIX)
client.connect("socket")
client.sendall(b"GET /page HTTP/1.0\r\n\r\n")
print(client.makefile().read().split("\n")[-2])'
}

echo "the page" >page
configure_nginx "" || skip "nginx does not take this configuration"
env LIBPPROF=http=127.0.0.1:0,heap,subprocesses LD_PRELOAD="$library" nginx -c "$work/nginx.conf" 2>messages &
server=$!
started="$started $server"
wait_until has_text messages /debug/pprof/
wait_until test -S socket
wait_until has_workers
url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' messages)

python3 "$ask" "$url/" >index
expect_contains "who answers" index "<p>Process $server, nginx,"
# shellcheck disable=SC2046 # process ids
expect_equal "servers of the workers" 0 "$(with_server $(workers))"
expect_equal "servers of the master" 1 "$(with_server "$server")"
expect_equal "what nginx serves" "the page" "$(page)"
for name in heap thread 'profile?seconds=1' 'thread?debug=2'; do
    expect_equal "status of $name" 200 "$(status_of "/$name")"
done

# New workers come from the master, while its server goes on.
before=$(workers)
kill -HUP "$server"
are_new() { has_workers && [ "$(workers)" != "$before" ]; }
wait_until are_new
wait_until answers
expect_equal "what nginx serves after a reload" "the page" "$(page)"
kill -QUIT "$server"
wait "$server" || fail "nginx ends with $?: $(cat messages)"
expect_equal "messages" 1 "$(wc -l <messages)"

# The daemon is a child of the process that had the server, and that one has ended.
sed -i 's/^daemon off;/daemon on;/' nginx.conf
rm -f pid socket
preload http=127.0.0.1:0,heap nginx -c "$work/nginx.conf" 2>daemon.messages
wait_until test -s pid
server=$(cat pid)
started="$started $server"
url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' daemon.messages)
wait_until is_deaf
wait_until test -S socket
expect_equal "servers of the daemon" 0 "$(with_server "$server")"
expect_equal "what the daemon serves" "the page" "$(page)"
kill -QUIT "$server"
wait_until is_over "$server"
echo ok
