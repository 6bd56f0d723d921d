#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_stuck.sh: the profile of threads of a program that is ended by SIGTERM or SIGINT has every thread where it is: one
# that runs, one that waits, and the one on which the signal arrives.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout
env --default-signal=INT true 2>/dev/null || skip "env has no --default-signal"

for case in "TERM waiting 143" "INT waiting 130" "TERM running 143"; do
    # shellcheck disable=SC2086 # three words
    set -- $case
    env --default-signal=INT,TERM LIBPPROF="thread,file=$work/$1.$2.pb.gz" LD_PRELOAD="$library" \
        "$victims/stuck" "$2" >"$1.$2.out" 2>"$1.$2.err" &
    process=$!
    started="$started $process"
    wait_until has_line "$1.$2.out" ready
    kill -s "$1" $process
    ended=0
    wait $process || ended=$?
    expect_equal "status after SIG$1 on the thread that is $2" "$3" "$ended"
    raw "$1.$2.pb.gz"
    stacks="$1.$2.pb.gz.raw"
    expect_equal "threads after SIG$1, $2" 3 "$(weight "$stacks")"
    expect_equal "stacks that are missing after SIG$1, $2" 0 "$(weight_with "$stacks" pprof_missing_frames)"
    expect_equal "the thread that runs, after SIG$1, $2" 1 "$(weight_with "$stacks" spins)"
    expect_equal "the thread that waits, after SIG$1, $2" 1 "$(weight_with "$stacks" waits)"
    expect_equal "the first thread, after SIG$1, $2" 1 "$(weight_with "$stacks" waits_for_ever main)"
    # The function that waits calls into libc, and nothing is between that and the leaf.
    expect_equal "frames above pause, after SIG$1, $2" 1 \
        "$(stacks "$stacks" | awk -F '\t' '/waits_for_ever/ { for (i = 2; $i !~ /waits_for_ever/; i++) n++ } END { print n + 0 }')"
done
echo ok
