#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_first_thread_ends.sh: profiles of a program whose first thread has ended (linked/first_thread_ends.c) have the
# names of its functions, its file and its build id, in every form. So have those of a file that was removed. A program whose
# last thread is one of the library ends, and leaves its profiles.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go readelf

build_id=$(readelf -n "$linked/first_thread_ends" | sed -n 's/.*Build ID: //p')
[ -n "$build_id" ] || fail "the program has no build id"

# expect_named KIND FUNCTION: FUNCTION is in both forms, where the program's functions are.
expect_named() {
    expect_contains "text of $1" "$1.txt" "	$2+0x"
    grep -qE "^#	0x[0-9a-f]+	+$2\\+0x[0-9a-f]+	+$program\$" "$1.txt" || fail "$2 is not in $program: $(cat "$1.txt")"
    raw "$1.pb.gz"
    expect_mapped "$1"
    grep -qE "M=1 $2 " "$1.pb.gz.raw" || fail "no $2 in the first mapping of $1: $(cat "$1.pb.gz.raw")"
}

expect_mapped() { # KIND
    grep -qE "^1: 0x[0-9a-f]+/0x[0-9a-f]+/0x[0-9a-f]+ $program $build_id( |\$)" "$1.pb.gz.raw" ||
        fail "the first mapping of $1 is not $program $build_id: $(cat "$1.pb.gz.raw")"
}

check_all() {
    for name in heap allocs; do
        expect_named $name allocate_here
    done
    expect_named block waits_here
    expect_named mutex contend_here
    expect_named threadcreate main
    expect_named thread write_all
    expect_named example.value add_here
    expect_contains "every stack in full" thread.debug2.txt "
write_all(...)
	$program +0x"
    raw cpu.pb.gz
    expect_mapped cpu
    expect_at_least "samples in burn_here" 1 "$(weight_with cpu.pb.gz.raw burn_here write_all)"
    grep -aqF " $program" cpu.legacy || fail "the maps of cpu.legacy are without $program"
    grep -qE '^# Stack = [1-9][0-9]* ' heap.txt || fail "nothing is known of the stack: $(grep Stack heap.txt)"
}

program=$linked/first_thread_ends
"$program" "$work" 2>errors || fail "$program: $(cat errors)"
check_all

program=$work/removed
cp "$linked/first_thread_ends" "$program"
"$program" "$work" "$program" 2>errors || fail "$program: $(cat errors)"
expect_no_file "$program"
check_all

for options in wall wall,control=control wall,interval=1h wall,subprocesses wall,http=unix:door \
    wall,duration=1h,leak cpu,interval=1h,duration=1h,control=control; do
    LIBPPROF="$options,file=end.%k.pb.gz" timeout -s KILL 60 "$linked/first_thread_ends" 2>errors ||
        fail "$options: status $?: $(cat errors)"
    raw "end.${options%%,*}.pb.gz"
    rm end.*
done
LIBPPROF=wall,signal=USR2 timeout -s KILL 60 "$linked/first_thread_ends" 2>errors || fail "signal: status $?: $(cat errors)"
echo ok
