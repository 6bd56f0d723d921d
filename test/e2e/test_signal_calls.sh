#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 1200
# nightly: 1
#
# test_signal_calls.sh: what each call of libc that sees or changes signals says is the same with and
# without a profile (docs/SIGNALS.md).
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need timeout

# rows MS OPTIONS: MS milliseconds of work between two calls, in which samples come.
rows() {
    timeout -s KILL 900 env LIBPPROF="$2,subprocesses,log=$work/log" LD_PRELOAD="$library" "$victims/signal_calls" "$1"
}
# All runs by way of timeout, which changes what a program in the background inherits (SIGINT is ignored there).
# Where no signal of ours comes, there is none to wait for.
timeout -s KILL 900 "$victims/signal_calls" 0 >plain
lines=$(wc -l <plain)
[ "$lines" -gt 1000 ] || fail "only $lines lines are compared"

timeout -s KILL 900 env LD_PRELOAD="$library" "$victims/signal_calls" 0 >idle
diff plain idle >&2 || fail "an idle library changes what a call says"
# A timer waits for the tick of the kernel, every 4 ms; perf takes a sample every 0.1 ms.
rows 6 "cpu:1000,thread,file=$work/%p.%k.pb.gz" >timers
diff plain timers >&2 || fail "a CPU profile changes what a call says"
rows 2 "cpu:10000,engine=perf,heap:4096,block,mutex,fd,file=$work/%p.%k.pb.gz" >events
diff plain events >&2 || fail "a profile of each kind changes what a call says"
echo ok
