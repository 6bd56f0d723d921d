#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_kinds.sh: `cpprof record -e cpu,heap,block,mutex` with the real library: a file for each,
# with the functions that it should name, also of several processes. Other kinds are not
# recorded.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go python3
cpprof=$BUILD/bin/cpprof

"$cpprof" record -e cpu,heap:1,block,mutex -F 1000 -o all.pb.gz "$victims/contention" 50 >out 2>err || fail "$(cat err)"
for kind in cpu heap block mutex; do
    raw all.$kind.pb.gz
    expect_contains "summary" err "wrote all.$kind.pb.gz (1 process)"
    expect_contains "summary" err "cpprof top --cum all.$kind.pb.gz"
done
expect_equal "types" "inuse_space delay delay" "$(sed -n 's/^Type: //p' err | tr '\n' ' ' | sed 's/ $//')"
expect_at_least "CPU time" 1 "$(weight all.cpu.pb.gz.raw)"
expect_equal "blocks" "1 1000 1 1000" "$(blocks_of all.heap.pb.gz.raw keeps_block main)"
expect_at_least "waits in the writer's way" 1 "$(weight_with all.block.pb.gz.raw pthread_rwlock_wrlock)"
expect_at_least "releases by holds_mutex" 1 "$(weight_directly all.mutex.pb.gz.raw pthread_mutex_unlock holds_mutex)"
sed '1,/wrote all.mutex/d' err | grep -q ' holds_[a-z_]*$' || fail "no holder of a lock is among the ten: $(cat err)"

# Everything is freed at the end: the summary shows the allocations.
cat >frees.c <<'EOC'
#include <stdlib.h>
void *volatile block;
__attribute__((noinline)) void takes(void) { block = malloc(3 << 20); }
int main(void) { takes(); free(block); return 0; }
EOC
cc -O1 -o frees frees.c
"$cpprof" record -e heap:1 -o frees.pb.gz ./frees 2>err || fail "$(cat err)"
expect_contains "summary" err "Type: alloc_space"
expect_contains "the next command" err "Next: cpprof top --cum --sample alloc_space frees.pb.gz"
expect_contains "the next command" err "cpprof flame --sample alloc_space frees.pb.gz"
grep -q 'MB  *100%  takes$' err || fail "takes is not among the ten: $(cat err)"

# Who has the memory allocated is above the function that allocates; who uses CPU time is below the function that works.
cat >order.c <<'EOC'
#include <stdlib.h>
void *volatile blocks[2];
static volatile unsigned long turns;
__attribute__((noinline)) void works(void) { blocks[0] = malloc(3 << 20); while (++turns % 300000000) {} }
__attribute__((noinline)) void asks(void) { works(); blocks[1] = malloc(1 << 20); }
int main(void) { asks(); return 0; }
EOC
cc -O1 -fno-optimize-sibling-calls -o order order.c
# rows: works and asks in the order of the last summary.
rows() {
    grep -o ' \(works\|asks\)$' err | tr -d '\n'
}
"$cpprof" record -e heap:1 -o order.pb.gz ./order 2>err || fail "$(cat err)"
expect_equal "rows of heap" " asks works" "$(rows)"
"$cpprof" record -F 1000 -o order.pb.gz ./order 2>err || fail "$(cat err)"
expect_equal "rows of cpu" " works asks" "$(rows)"

"$cpprof" record -e mutex -o none.pb.gz true 2>err || fail "$(cat err)"
expect_contains "summary" err "no samples: no lock was released that a thread waited for"
! grep -q Next err || fail "next steps for nothing: $(cat err)"
"$cpprof" record -e heap:1,block -o two.pb.gz sh -c './frees; ./frees; exit 0' 2>err || fail "$(cat err)"
raw two.heap.pb.gz
expect_equal "allocations of two processes" "2 6291456 0 0" "$(blocks_of two.heap.pb.gz.raw takes)"
[ -e two.block.pb.gz ] || fail "no file without waits"
expect_no_file two.cpu.pb.gz
expect_no_file two.pb.gz

# Descriptors and the peak of the heap.
"$cpprof" record --no-subprocesses -e fd,peak,heap:1 -o state.pb.gz ./frees 2>err || fail "$(cat err)"
for kind in fd peak heap; do
    raw state.$kind.pb.gz
done
# The command inherits what this shell has open, and the socket, which does not count.
inherited=$(python3 -c 'import os; print(len(os.listdir("/proc/self/fd")) - 1)')
expect_equal "descriptors" "$inherited" "$(weight state.fd.pb.gz.raw)"
expect_at_least "peak" $((3 << 20)) "$(blocks_of state.peak.pb.gz.raw | cut -d ' ' -f 4)"

# Where time passes, also of the processes that the command starts: all of it is there, and its states are named.
"$cpprof" record -e wall:100,cpu -o waits.pb.gz sh -c 'sleep 0.5; exit 0' 2>err || fail "$(cat err)"
expect_contains "the states" err "By state:"
expect_contains "the next command" err "cpprof top --cum --ignore-idle waits.wall.pb.gz"
grep -q '% *sleep$' err || fail "no time of state sleep: $(cat err)"
grep -q '% *child$' err || fail "no time of state child: $(cat err)"
raw waits.wall.pb.gz
expect_contains "the rate" waits.wall.pb.gz.raw "Period: 10000000"
raw waits.cpu.pb.gz
expect_contains "the other kind" waits.cpu.pb.gz.raw "PeriodType: cpu nanoseconds"
slept=$("$cpprof" top --json --tagfocus state=sleep waits.wall.pb.gz | python3 -c 'import json, sys; print(sum(r["flat"] for r in json.load(sys.stdin)["rows"]))')
expect_at_least "time of sleep, in ns" 400000000 "$slept"

# A wrapper whose child uses the time; and threads whose waits never end.
"$cpprof" record --no-subprocesses -o wrapper.pb.gz sh -c "\"$BUILD/test/cpprof/victim\" burn 1; exit 0" 2>err || fail "$(cat err)"
expect_contains "a wrapper" err "without --no-subprocesses they are recorded too"
! grep -q -- "-F 1000" err || fail "a wrapper: $(cat err)"
cat >dead.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *ends(void *unused)
{
    sleep(1);
    raise(SIGTERM);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ends, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
C
cc -o dead dead.c -lpthread
expect_equal "a deadlock" 143 "$(status "$cpprof" record -e mutex,block -o dead.pb.gz ./dead 2>err)"
expect_contains "a deadlock" err "waits that never ended are in the profile of -e block"
raw dead.block.pb.gz
expect_at_least "a deadlock: waits" 1 "$(weight_with dead.block.pb.gz.raw pthread_mutex_lock main)"
echo ok
