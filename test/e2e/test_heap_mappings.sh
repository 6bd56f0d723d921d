#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_mappings.sh: memory that a program maps itself is in the heap profile, under mmap and
# mremap, as long as it is mapped, whole or in part; mappings of files are told apart; address space
# without memory is not counted; what the allocator maps is not counted a second time.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

kib() { echo $(($1 * 1024)); }

# inuse PROFILE NAME...: bytes in use in stacks with these functions, leaf first.
inuse() {
    inuse_profile=$1
    shift
    go_pprof "$as_written" -sample_index=inuse_space -unit=B -traces "$inuse_profile" 2>/dev/null |
        awk -v wanted="$*" '
            BEGIN { count = split(wanted, want, " ") }
            function finish() { if (next_one > count) sum += bytes; next_one = 1; bytes = 0 }
            /^-+\+-+$/ { finish(); next }
            $1 ~ /^[0-9.]+B$/ { bytes = $1; sub(/B$/, "", bytes) }
            { if ($NF == want[next_one]) next_one++ }
            END { finish(); printf "%d\n", sum }'
}

for rate in 1 64k; do
    preload "heap:$rate,file=$work/$rate.pb.gz" "$victims/heap_mappings" >/dev/null
    raw "$rate.pb.gz"
    expect_equal "whole at $rate" "$(kib 8192)" "$(inuse $rate.pb.gz mmap map map_memory keep_whole)"
    expect_equal "ends cut at $rate" "$(kib 4096)" "$(inuse $rate.pb.gz mmap cut_ends)"
    expect_equal "hole at $rate" "$(kib 6144)" "$(inuse $rate.pb.gz mmap make_hole)"
    expect_equal "grown at $rate" "$(kib 16384)" "$(inuse $rate.pb.gz mremap grow main)"
    expect_equal "before it grew at $rate" 0 "$(inuse $rate.pb.gz mmap grow)"
    expect_equal "replaced at $rate" "$(kib 4096)" "$(inuse $rate.pb.gz mmap replace)"
    expect_equal "file at $rate" "$(kib 2048)" "$(inuse $rate.pb.gz pprof_file_mapping mmap map map_file)"
    expect_equal "reserved at $rate" 0 "$(inuse $rate.pb.gz reserve)"
    expect_equal "gone at $rate" 0 "$(inuse $rate.pb.gz unmap_all)"
    expect_equal "all at $rate" "$(kib 40960)" \
        $(($(inuse $rate.pb.gz mmap main) + $(inuse $rate.pb.gz mremap main)))
done
preload "heap:1,file=$work/threads.pb.gz" timeout -s KILL 100 "$victims/heap_mappings" threads \
    >threads.out || fail "threads: $?"
expect_equal "in use after the threads" 0 "$(inuse threads.pb.gz map_and_unmap)"

# The peak, at a rate at which each block of 64 KiB is sampled with certainty, nearly.
preload "heap:4k,peak,file=$work/peak.%k.pb.gz" "$victims/heap_peak" >/dev/null
raw peak.heap.pb.gz
raw peak.peak.pb.gz
mib() { echo $(($1 << 20)); }
near() { expect_near "$1" "$(mib "$2")" "$3" "$(mib "$4")"; }
near "always, at the end" 8 "$(inuse peak.heap.pb.gz hold_always)" 1
near "after the peak, at the end" 16 "$(inuse peak.heap.pb.gz hold_after_it)" 1
near "freed, at the end" 0 "$(inuse peak.heap.pb.gz hold_at_the_peak)" 0
near "always, at the peak" 8 "$(inuse peak.peak.pb.gz hold_always)" 1
near "at the peak" 62 "$(inuse peak.peak.pb.gz hold_at_the_peak)" 2
near "after the peak, at the peak" 0 "$(inuse peak.peak.pb.gz hold_after_it)" 0
echo ok
