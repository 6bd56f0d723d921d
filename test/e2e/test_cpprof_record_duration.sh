#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_duration.sh: with a duration the profiles are written at its end: the program may end by any
# signal after it. No call of the program is interrupted. The library's waiting thread is in no profile.
# timeout: 300
# nightly: 1
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof
outlives=$victims/outlives
# shellcheck disable=SC3045 # where it is not known there are no cores to speak of
ulimit -c 0 2>/dev/null || true

# is_early NAME: the CPU, heap and thread profiles have only what happened before the end of the duration.
is_early() {
    for kind in cpu heap thread; do
        raw "$1.$kind.pb.gz"
    done
    expect_at_least "$1: CPU time" 5 "$(weight_with "$1.cpu.pb.gz.raw" works_early)"
    expect_equal "$1: CPU time after it" 0 "$(weight_with "$1.cpu.pb.gz.raw" works_late)"
    expect_at_least "$1: blocks" 1 "$(blocks_of "$1.heap.pb.gz.raw" works_early | cut -d ' ' -f 1)"
    expect_equal "$1: blocks after it" 0 "$(blocks_of "$1.heap.pb.gz.raw" works_late | cut -d ' ' -f 1)"
    expect_equal "$1: threads" 1 "$(weight "$1.thread.pb.gz.raw")"
}

for signal in 0 9 11 3 6; do
    expected=$([ $signal = 0 ] && echo 0 || echo $((128 + signal)))
    expect_equal "status after $signal" "$expected" "$(status "$cpprof" record -e cpu,heap:1,thread -F 1000 -d 1.5 \
        -o "after$signal.pb.gz" "$outlives" - $signal 2>err)"
    is_early after$signal
done

# With the library's own options the files are there while the program goes on.
for signal in 0 9; do
    rm -f go raw.*
    preload "cpu:1000,heap:1,thread,duration=500ms,file=$work/raw.pb.gz" "$outlives" go $signal &
    process=$!
    started="$started $process"
    wait_until test -e raw.cpu.pb.gz
    wait_until test -e raw.heap.pb.gz
    wait_until test -e raw.thread.pb.gz
    touch go
    found=0
    wait $process 2>/dev/null || found=$?
    [ $signal = 0 ] && expect_equal "interrupted calls" 0 $found
    is_early raw
done

# A program that ends before, or ends its first thread, does not wait for the end of the duration.
"$cpprof" record -F 1000 -d 100000 -o short.pb.gz "$outlives" / 0 2>err || fail "$(cat err)"
raw short.pb.gz
expect_at_least "a short program" 100 "$(weight_with short.pb.gz.raw works_late)"
"$cpprof" record -F 1000 -d 100000 -o left.pb.gz "$outlives" - leave 2>err || fail "$(cat err)"
raw left.pb.gz
expect_at_least "a program without its first thread" 100 "$(weight_with left.pb.gz.raw works_late)"

# After an exec the rest of the duration counts; a filter finds no thread of the library.
"$cpprof" record -F 1000 -d 1 -o exec.pb.gz env "$outlives" - 9 2>err && fail "status after an exec"
raw exec.pb.gz
expect_at_least "after an exec" 5 "$(weight_with exec.pb.gz.raw works_early)"
"$cpprof" record -F 1000 -d 100000 -o filter.pb.gz "$victims/shut_off" seccomp 100 2>err || fail "$(cat err)"
raw filter.pb.gz
expect_at_least "before a filter" 50 "$(weight_with filter.pb.gz.raw works_shut_off)"
echo ok
