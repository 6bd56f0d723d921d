#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_threads.sh: threads that exist before main, by pthread_create, by thrd_create, on the smallest
# stack, and by a bare clone: each with its CPU time under its own entry.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

record "$work/p.pb.gz" "$victims/threads" >spent
raw p.pb.gz
profile=$work/p.pb.gz.raw
spent() { awk -v name="$1" '$1 == name { print $2 }' spent; }

below=2 # glibc: start_thread and clone3
! is_musl "$library" || below=1
! is_musl "$library" || [ "$(uname -m)" != aarch64 ] || below=2 # which keeps frame records there
for name in posix_entry c11_entry small_entry early_entry; do
    # Without what it does beside that: pthread_exit loads libgcc, which takes a slow machine long.
    expect_near "weight of burn_ms in $name" "$(spent $name)" "$(weight_with "$profile" burn_ms $name)" 15
    # The thread's stack looks as if libc had called the entry itself, also where its time was settled at its end, for
    # want of a tick.
    expect_equal "weight of $name called by $below functions of libc" "$(weight_with "$profile" $name)" \
        "$(stacks "$profile" | awk -F '\t' -v name=$name -v below=$below '$(NF - below) == name { sum += $1 } END { print sum + 0 }')"
done
expect_near "weight of burn_ms in main" "$(spent main)" "$(weight_with "$profile" burn_ms main)" 15

# Nobody tells us of a bare clone: it may run for a quarter of a second of our CPU time unseen, and
# what it used before is not its profile's. The rest is there.
raw_weight=$(weight_with "$profile" raw_entry)
expect_at_least "weight of raw_entry" "$(percent "$(spent raw_entry)" 40)" "$raw_weight"
expect_at_least "the CPU time of raw_entry" "$raw_weight" "$(awk '$1 == "raw_entry" { print $2 + 15 }' spent)"

# All the rest adds up.
expect_near "weight of all but raw_entry" \
    "$(awk '$1 == "process" { p = $2 } $1 == "raw_entry" { r = $2 } END { print p - r }' spent)" \
    "$(($(weight "$profile") - raw_weight))" "$(percent "$(spent process)" 5)"

# 200 threads, most too short for the kernel to notice that a sample is due; also of a profile that would end later.
for duration in '' ,duration=600; do
    preload "cpu:1000,file=$work/storm.pb.gz$duration" "$victims/thread_storm" 400 >spent
    raw storm.pb.gz
    profile=$work/storm.pb.gz.raw
    expect_near "weight of short_entry$duration" "$(spent short_entry)" "$(weight_with "$profile" short_entry)" \
        "$(percent "$(spent short_entry)" 5)"
    # Of what the kernel does to begin and to end a thread, a part is in no thread's account.
    expect_near "weight of the storm$duration" "$(spent process)" "$(weight "$profile")" \
        "$(awk '$1 == "process" { p = $2 } $1 == "short_entry" { s = $2 } END { print p * 0.05 + (p - s) / 4 }' spent)"
done
echo ok
