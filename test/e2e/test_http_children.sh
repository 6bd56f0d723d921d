#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_http_children.sh: http= with subprocesses. The first process has the address, and what it executes goes without, in
# silence; with port 0, or %p in the path of a unix socket, each process that is executed has a server of its own.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3
# Programs for the library's libc.
sh=$(command -v sh)
program() { (IFS=: && for folder in $PATH; do [ ! -x "$folder/$1" ] || { echo "$folder/$1" && break; }; done); } # no builtin
echo=$(program echo)
true=$(program true)

# serve_shell OPTIONS: a shell with a server, that runs what comes from its standard input.
serve_shell() {
    rm -f shell.in
    mkfifo shell.in
    env LIBPPROF="$1" LD_PRELOAD="$library" "$sh" <shell.in >shell.out 2>shell.err &
    server=$!
    started="$started $server"
    exec 9>shell.in
}

# end_shell: and what it has started in the background.
end_shell() {
    echo 'kill $! 2>/dev/null; wait' >&9
    exec 9>&-
    wait "$server" || true
}

status_at() { python3 "$ask" "$1/debug/pprof/cmdline" 2>/dev/null | sed -n 1p; }
answers_at() { [ "$(status_at "$1")" = 200 ]; }
command_at() { python3 "$ask" "$1/debug/pprof/cmdline" | tail -n 1 | tr '\0' ' '; }

# A port that is free.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
serve_shell "http=127.0.0.1:$port,subprocesses"
wait_until answers_at "http://127.0.0.1:$port"
echo "$echo one; $sh -c '$echo two; $echo three; exit'; $echo four" >&9
wait_until has_line shell.out four
expect_equal "what the children print" "one two three four " "$(tr '\n' ' ' <shell.out)"
expect_equal "who answers" "$sh" "$(command_at "http://127.0.0.1:$port")"
expect_equal "messages of all processes" "" "$(cat shell.err)"
# Somebody else who wants the address is told.
preload "http=127.0.0.1:$port,subprocesses" "$true" 2>stranger.err
expect_contains "a stranger at the same port" stranger.err "http: no server at 127.0.0.1:$port: Address "
end_shell

# Each has a port.
serve_shell "http=127.0.0.1:0,subprocesses"
wait_until has_text shell.err /debug/pprof/
echo 'sleep 1000 &' >&9
both() { [ "$(grep -c /debug/pprof/ shell.err)" = 2 ]; }
wait_until both
first=$(sed -n 's|^libpprof: \(http://[^/]*\)/.*|\1|p' shell.err | sed -n 1p)
second=$(sed -n 's|^libpprof: \(http://[^/]*\)/.*|\1|p' shell.err | sed -n 2p)
wait_until answers_at "$second"
expect_equal "the first process" "$sh" "$(command_at "$first")"
expect_equal "the second" "sleep 1000" "$(command_at "$second")"
end_shell

# Each has a socket of its own name.
serve_shell "http=unix:$work/%e.%p.sock,subprocesses"
wait_until answers_at "unix:$work/sh.$server.sock:"
echo 'sleep 1000 & echo $!' >&9
wait_until test -s shell.out
wait_until answers_at "unix:$work/sleep.$(cat shell.out).sock:"
expect_equal "the process with this name" "sleep 1000" "$(command_at "unix:$work/sleep.$(cat shell.out).sock:")"
end_shell
expect_equal "messages of all processes" "" "$(cat shell.err)"
expect_no_file "$work/sh.$server.sock"
LIBPPROF=http=unix:$work/%x.sock LD_PRELOAD=$library "$true" 2>wrong.err
grep -q '^libpprof: .*http' wrong.err || fail "nothing was said of %x: $(cat wrong.err)"
echo ok
