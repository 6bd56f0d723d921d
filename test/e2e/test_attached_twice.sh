#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 3
#
# test_attached_twice.sh: several cpprof attach to a process at the same moment, also one that has just been started: each
# of them gets what it asks for. Others come when the first have gone.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"

# gives_up WHO: what they have said, and whether the program lives.
gives_up() {
    guest_status=0
    ! is_over "$guest" || wait "$guest" || guest_status=$?
    fail "$1, turn $turn: $(cat one.out two.out three.out); the program's status (0: it lives) is $guest_status: $(cat guest.err)"
}

turn=0
while [ $turn -lt 10 ]; do
    turn=$((turn + 1))
    start
    rm -f ./*.pb.gz
    "$cpprof" record -p "$guest" -e heap:1 -d 1 -o one.pb.gz >one.out 2>&1 &
    one=$!
    "$cpprof" record -p "$guest" -e cpu,thread -d 1 -o two.pb.gz >two.out 2>&1 &
    two=$!
    "$cpprof" configure "$guest" block:1 >three.out 2>&1 || gives_up "the third one"
    wait $two || gives_up "the second one"
    wait $one || gives_up "the first one"
    for file in one two.cpu two.thread; do
        [ -s "$file.pb.gz" ] || fail "no $file, turn $turn: $(cat one.out two.out)"
    done
    expect_equal "an answer, turn $turn" "joined" "$(tell threads)"
    end
done

# A thread is traced by one at a time, and while another cpprof has the program's only one, the library comes with threads of its
# own: none of them is taken, whose stack and locks are not the program's.
cat >trace.py <<'TRACE'
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
PR_SET_NAME, PTRACE_SEIZE = 15, 0x4206
libc.prctl(PR_SET_NAME, b"cpprof")
print(libc.ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()
TRACE

# It has slept between its looks at the threads, or is over.
has_looked() { awk '/^voluntary_ctxt_switches/ { exit $2 < 20 }' "/proc/$1/status" 2>/dev/null || is_over "$1"; }

start
mkfifo traced.in
python3 trace.py "$guest" <traced.in >traced 2>&1 &
tracer=$!
started="$started $tracer"
exec 7>traced.in
wait_until test -s traced
expect_equal "tracing the program's thread" 0 "$(cat traced)"
"$cpprof" configure "$guest" block:1 >two.out 2>&1 &
two=$!
wait_until has_looked $two
attach
wait $two && fail "cpprof has taken a thread of the library: $(cat two.out)"
expect_contains "its message" two.out "no thread of process"
exec 7>&-
wait $tracer
"$cpprof" configure "$guest" block:1 >two.out 2>&1 || gives_up "the one after the tracer"
expect_equal "an answer" "joined" "$(tell threads)"
end

# count_threads: what the library takes for the number of the program's threads.
count_threads() {
    answer "" >index
    sed -n "s|^<tr><td>\([0-9]*\)</td><td><a href='./thread?debug=1'>.*|\1|p" index
}

# The threads of an attachment are forgotten with it: a sampling handler would look for one that seems to be missing.
start
attach
expect_equal "threads of the program" 1 "$(count_threads)"
detach
for again in 2 3; do
    attach_again
    expect_equal "threads of the program, attachment $again" 1 "$(count_threads)"
    detach
done
end
echo ok
