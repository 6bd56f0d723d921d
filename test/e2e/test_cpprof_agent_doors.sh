#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_doors.sh: whom cpprof agent answers: by token, by Host, on a unix socket; and what its command line
# refuses.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"
need python3

start_guest shop control
exec 9>guests.in

# ---- loopback: names that a page may give to 127.0.0.1 are refused ----
start_agent --listen 127.0.0.1:0
expect_equal "localhost" 200 "$(status_of / -H "Host: localhost:1")"
expect_equal "another host" 403 "$(status_of / -H "Host: example.com")"
expect_equal "a target that is no path" 400 "$(printf 'GET http://127.0.0.1/ HTTP/1.1\r\nHost: localhost\r\n\r\n' |
    python3 -c 'import socket, sys
host, port = sys.argv[1][len("http://"):].split(":")
client = socket.create_connection((host, int(port)))
client.sendall(sys.stdin.buffer.read())
print(client.recv(12)[9:].decode())' "$url")"
end_agent

# ---- a token ----
printf '0123456789abcdef\n' >token
start_agent --listen 127.0.0.1:0 --token-file token
expect_equal "no token" 401 "$(status_of /targets)"
expect_equal "a wrong token" 401 "$(status_of /targets -H "Authorization: Bearer 0123456789abcdeg")"
expect_equal "the token" 200 "$(status_of /targets -H "Authorization: Bearer 0123456789abcdef")"
expect_equal "the token, at another host" 200 \
    "$(status_of /targets -H "Authorization: Bearer 0123456789abcdef" -H "Host: example.com")"
end_agent

# ---- a unix socket, for this user only ----
start_agent --listen "unix:$work/agent.sock"
expect_equal "mode of the socket" 600 "$(stat -c %a agent.sock)"
url="unix:$work/agent.sock:"
expect_equal "on the socket" 200 "$(status_of /targets)"
expect_equal "a second agent there" 1 "$(status "$cpprof" agent --listen "unix:$work/agent.sock" 2>errors)"
grep -q 'Address \(already \)\?in use' errors || fail "a second agent there: $(cat errors)"
expect_equal "the first one, after that" 200 "$(status_of /targets)"
end_agent
expect_no_file agent.sock
echo precious >file
expect_equal "a file in the place of the socket" 1 "$(status "$cpprof" agent --listen "unix:$work/file" 2>errors)"
expect_equal "that file" precious "$(cat file)"

# ---- command lines ----
expect_equal "a bad address" 1 "$(status "$cpprof" agent --listen nonsense 2>errors)"
expect_equal "a short token" 1 "$(echo short >short; status "$cpprof" agent --listen 127.0.0.1:0 --token-file short 2>errors)"
expect_contains "a short token" errors "16 to 255 characters"
expect_equal "a bad interval" 2 "$(status "$cpprof" agent --push http://127.0.0.1:1 --interval 0.1s 2>errors)"
expect_equal "a bad expression" 1 "$(status "$cpprof" agent --only '(' 2>errors)"
mkdir -m 700 state
mkdir state/lock
expect_equal "a state without a lock" 1 "$(status "$cpprof" agent --push http://127.0.0.1:1 --state state 2>errors)"
expect_contains "a state without a lock" errors "cannot lock the file"
expect_contains "a state without a lock" errors "Is a directory"
expect_equal "an operand" 2 "$(status "$cpprof" agent 1234 2>errors)"
