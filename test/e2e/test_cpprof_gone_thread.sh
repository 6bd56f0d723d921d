#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_gone_thread.sh: each command that takes a process reaches one whose first thread has ended
# (victims/without_first.c). Its folder in /proc is empty then; those of its other threads are not.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof

# start NAME WORDS...: its process is $process, its input the fifo NAME.in.
start() {
    name=$1
    shift
    mkfifo "$name.in"
    "$victims/without_first" "$@" <"$name.in" >"$name.out" 2>&1 &
    process=$!
    started="$started $process"
    exec 3>"$name.in"
    wait_until has_line "$name.out" ready
    grep -q '^State:[[:space:]]*Z' "/proc/$process/status" || fail "the first thread has not ended"
}

over() {
    exec 3>&-
    wait "$process" || fail "it ended with $?: $(cat "$name.out")"
}

# does WORDS...: cpprof succeeds; its output is in out, its messages in err.
does() { "$cpprof" "$@" >out 2>err || fail "cpprof $*: $(cat err)"; }

# ---- from outside ----

start plain
does dump -p "$process"
expect_contains "the stacks" out wait_for_end
does doctor -p "$process" --json
expect_contains "doctor" out "not loaded; \`cpprof record -p $process\`"
expect_contains "doctor" out "$victims/without_first"

# ---- attached ----

does record -p "$process" -e cpu -d 1 -o cpu.pb.gz
raw cpu.pb.gz
expect_at_least "samples in work_on" 1 "$(weight_with cpu.pb.gz.raw work_on)"
does record -p "$process" -e heap,thread -d 1 -o both.pb.gz
does configure "$process" heap:64k
does configure "$process"
expect_contains "what it records" out "heap:65536"
does ps
expect_contains "ps" out "$victims/without_first"
does top "pid:$process/profile?seconds=1"
expect_contains "top of pid:" out work_on
does configure "$process" detach
over

# ---- a control socket from the start ----

mkfifo preloaded.in
LIBPPROF=control LD_PRELOAD=$library "$victims/without_first" <preloaded.in >preloaded.out 2>&1 &
process=$!
started="$started $process"
exec 3>preloaded.in
name=preloaded
wait_until has_line preloaded.out ready
does record -p "$process" -d 1 -o preloaded.pb.gz
does doctor -p "$process"
expect_contains "doctor" out "libpprof is loaded, LIBPPROF=control"
over

# ---- the thread that is looked at ends meanwhile ----

start relay relay
for _ in 1 2 3 4 5 6 7 8 9 10; do
    does dump -p "$process"
    expect_contains "the stacks" out wait_for_end
done
does record -p "$process" -e cpu -d 1 -o relay.pb.gz
over
echo ok
