#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_ps.sh: cpprof ps lists the processes with libpprof in them, how they are reached and what they record, as a
# table and as JSON; it removes sockets that nobody listens on, and no others.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# start OPTIONS: a program that works until the test ends, as $guest.
mkfifo guests.in
start() {
    env LIBPPROF="$1" LD_PRELOAD="$library" "$victims/web_guest" <guests.in >guest.out 2>guest.err &
    guest=$!
    started="$started $guest"
}

start control,heap:1,block
asked=$guest
start log=/dev/null
silent=$guest
start "control,http=unix:$work/http.sock"
both=$guest
"$victims/web_guest" <guests.in >guest.out 2>guest.err &
without=$!
started="$started $without"
exec 9>guests.in
for process in $asked $both; do
    wait_until "$cpprof" configure "$process" >/dev/null 2>&1
done
wait_until grep -q libpprof "/proc/$silent/maps"

row() { "$cpprof" ps | grep "^ *$1 " || echo none; }
expect_equal "those that can be asked, in brief" "$(printf '%s\t%s\n%s\t%s' "$asked" "$victims/web_guest" "$both" "$victims/web_guest")" \
    "$("$cpprof" ps --brief | sort -n | grep -E "^($asked|$silent|$both|$without)	")"
user=$(id -un)
expect_equal "a row" "$asked $user heap:1 block:1 control $victims/web_guest" "$(row "$asked" | tr -s ' ' | sed 's/^ //')"
expect_equal "a process that serves HTTP, too" "$both $user - control, http unix:$work/http.sock $victims/web_guest" \
    "$(row "$both" | tr -s ' ' | sed 's/^ //')"
expect_equal "a process without a socket" "$silent $user - no control socket $victims/web_guest" \
    "$(row "$silent" | tr -s ' ' | sed 's/^ //')"
expect_equal "a process without libpprof" none "$(row "$without")"

"$cpprof" ps --json >ps.json
python3 - "$asked" "$silent" "$XDG_RUNTIME_DIR" <<'CHECK' || fail "$(cat ps.json)"
import json, sys
asked, silent, runtime = sys.argv[1:]
rows = {str(row["pid"]): row for row in json.load(open("ps.json"))}
assert rows[asked]["on"] == ["heap:1", "block:1"]
assert rows[asked]["control"] == "%s/pprof/%s.sock" % (runtime, asked)
assert rows[asked]["reachable"] and not rows[silent]["reachable"]
assert rows[silent]["why"] == "no control socket"
CHECK

# One that does not answer: it is stopped.
kill -STOP "$asked"
is_stopped() { ! grep -h '^State:' "/proc/$asked/task/"*/status | grep -qv 'T (stopped)'; }
wait_until is_stopped
row "$asked" >row.txt
expect_contains "a process that is stopped" row.txt "no answer after 2 s"
kill -CONT "$asked"

# A socket that was left goes; what is no socket, what is young, and what is in use stay.
left() { python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$XDG_RUNTIME_DIR/pprof/$1"; }
left 999999.sock
echo file >"$XDG_RUNTIME_DIR/pprof/999997.sock"
touch -d '1 minute ago' "$XDG_RUNTIME_DIR/pprof/"*
"$cpprof" ps >/dev/null
left 999998.sock
"$cpprof" ps >/dev/null
[ -S "$XDG_RUNTIME_DIR/pprof/999998.sock" ] || fail "ps has removed a socket that may be about to listen"
expect_no_file "$XDG_RUNTIME_DIR/pprof/999999.sock"
[ -f "$XDG_RUNTIME_DIR/pprof/999997.sock" ] || fail "ps has removed a file"
[ -S "$XDG_RUNTIME_DIR/pprof/$asked.sock" ] || fail "ps has removed a socket that is in use"
exec 9>&-
