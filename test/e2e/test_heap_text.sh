#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_text.sh: the text form of the heap profile: what it says, and that go tool pprof reads the
# same out of it as out of profile.proto.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

write_forms() { # RATE [SECOND_RATE]
    rm -f ./*.txt ./*.pb.gz*
    expect_equal "status at $*" 0 "$(status "$linked/heap_text" "$work" "$@" | tail -n 1)"
    for form in heap.pb.gz heap.txt bare.txt early.txt; do
        # A text file has no names of its own: the reader takes them from the program.
        go_pprof -raw "$form" >"$form.raw" 2>"$form.err" || fail "$form: $(cat "$form.err")"
    done
}

# rows FILE: header and rows.
rows() { sed '/^# runtime.MemStats/,$d; /^#/d; /^$/d' "$1"; }

# row FILE FUNCTION...: the numbers of the rows whose comments name these functions first.
row() {
    row_file=$1
    shift
    awk -v wanted="$*" '
        /^[0-9]+: / { row = $1 " " $2 " " $3 " " $4; names = ""; next }
        /^#\t0x/    { split($3, part, "+"); names = names (names == "" ? "" : " ") part[1]; next }
        /^$/ && row != "" { if (index(names " ", wanted " ") == 1) print row; row = "" }' "$row_file"
}

# The program and the C library agree on names, not on what is between main and _start.
totals() { # RAW: all numbers, summed
    blocks_of "$1"
}

# ---- every block ----

write_forms 1
expect_equal "row of alloc_small" "20000: 2000000 [20000: 2000000]" "$(row heap.txt alloc_small main)"
expect_equal "row of alloc_small in a thread" "1000: 100000 [1000: 100000]" \
    "$(row heap.txt alloc_small in_thread)"
expect_equal "row of alloc_big" "40: 41943040 [40: 41943040]" "$(row heap.txt alloc_big main)"
expect_equal "row of garbage" "0: 0 [50000: 100000000]" "$(row heap.txt garbage main)"
grep -q '^heap profile: [0-9]*: [0-9]* \[[0-9]*: [0-9]*\] @ heap/2$' heap.txt || fail "$(head -n 1 heap.txt)"
expect_equal "totals read from the text" "$(totals heap.pb.gz.raw)" "$(totals heap.txt.raw)"
expect_equal "totals read from the bare text" "$(totals heap.pb.gz.raw)" "$(totals bare.txt.raw)"
for function in alloc_small alloc_big garbage main; do
    expect_equal "what is read for $function" "$(blocks_of heap.pb.gz.raw $function)" \
        "$(blocks_of heap.txt.raw $function)"
done
expect_equal "header" "$(rows heap.txt | awk 'NR > 1 { sub(/\[/, ""); sub(/\]/, "")
    for (i = 1; i <= 4; i++) sum[i] += $i } END { printf "heap profile: %d: %d [%d: %d] @ heap/2\n",
    sum[1], sum[2], sum[3], sum[4] }')" "$(head -n 1 heap.txt)"

# Where nothing was freed yet: readers must not take it for a profile of what is in use only, which has nothing in
# common with a later one.
expect_equal "row of alloc_small, early" "20000: 2000000 [20000: 2000000]" "$(row early.txt alloc_small main)"
expect_equal "early header" "$(rows early.txt | awk 'NR > 1 { sub(/\[/, ""); sub(/\]/, "")
    for (i = 1; i <= 4; i++) sum[i] += $i } END { printf "heap profile: %d: %d [%d: %d] @ heap/2\n",
    sum[1], sum[2], sum[3], sum[4] == sum[2] ? sum[4] + 1 : sum[4] }')" "$(head -n 1 early.txt)"
expect_contains "what is read from the early text" early.txt.raw "alloc_objects/count alloc_space/bytes inuse_objects/count"
go_pprof -raw -base early.txt heap.txt >since.raw 2>since.err || fail "heap.txt since early.txt: $(cat since.err)"
expect_equal "alloc_small since then" "1000 100000 1000 100000" "$(blocks_of since.raw alloc_small)"
expect_equal "garbage since then" "50000 100000000 0 0" "$(blocks_of since.raw garbage main)"

# The order: bytes in use, then addresses.
rows heap.txt | awk 'NR > 1 { bytes = $2 + 0; if (NR > 2 && bytes > last) exit 1; last = bytes }' ||
    fail "rows are not ordered by bytes in use"
expect_equal "rows of allocs" "$(rows heap.txt)" "$(rows allocs.txt)"
expect_equal "bare rows" "$(rows heap.txt)" "$(rows bare.txt)"
expect_equal "lines of frames in the bare text" 0 "$(grep -c '^#	' bare.txt)"
expect_equal "second line of the bare text" "$(rows heap.txt | sed -n 2p)" "$(sed -n 2p bare.txt)"

# Frames: the address of the call, one below the row's; allocators and roots are hidden.
expect_equal "hidden frames" "" "$(grep -E '	(malloc|_start|clone3?|start_thread)\+' heap.txt || true)"
awk '/^[0-9]+: / { for (i = 6; i <= NF; i++) seen[$i] }
    /^#\t0x/ { split($2, part, "x"); n = length(part[2]); last = substr(part[2], n)
        next_one = last == "f" ? "" : substr(part[2], 1, n - 1) substr("123456789abcdef", index("0123456789abcde", last), 1)
        if (next_one != "" && !(("0x" next_one) in seen)) { print; exit 1 } }' heap.txt >&2 ||
    fail "a frame is not one below an address of its row"
grep -q "^#	0x[0-9a-f]*	alloc_big+0x[0-9a-f]*		*.*/heap_text$" heap.txt || fail "no frame of alloc_big"

# The statistics: these lines, in this order.
expect_equal "lines of statistics" "Alloc TotalAlloc Sys Lookups Mallocs Frees HeapAlloc HeapSys HeapIdle \
HeapInuse HeapReleased HeapObjects Stack MSpan MCache MHeapMapSys BuckHashSys GCSys OtherSys NextGC \
LastGC PauseNs PauseEnd NumGC NumForcedGC GCCPUFraction EnableGC DebugGC BySize MaxRSS " \
    "$(sed -n '/^# runtime.MemStats/,$ s/^# \([A-Za-z]*\) = .*/\1/p' heap.txt | tr '\n' ' ')"
statistic() { sed -n "s/^# $1 = //p" heap.txt; }
# 21000 blocks of 100, 40 of 1 MiB, 50000 of 2000, and a few of the C library.
expect_near "Mallocs" 71040 "$(statistic Mallocs)" 100
expect_near "HeapObjects" 21040 "$(statistic HeapObjects)" 100
expect_near "TotalAlloc" 144043040 "$(statistic TotalAlloc)" 100000
expect_near "HeapAlloc" 44300000 "$(statistic HeapAlloc)" 1000000
expect_at_least "MaxRSS" 1000000 "$(statistic MaxRSS)"
expect_equal "EnableGC" false "$(statistic EnableGC)"
expect_equal "blocks of 100 by size" "# 112 * (21000 = 21000 - 0)" "$(grep '^# 112 \* ' heap.txt)"
expect_equal "blocks of 2000 by size" "# 2048 * (0 = 50000 - 50000)" "$(grep '^# 2048 \* ' heap.txt)"
expect_equal "blocks above 32 KiB by size" "" \
    "$(sed -n 's/^# \([0-9]*\) \* (.*/\1/p' heap.txt | awk '$1 > 32768')"
sed '1,/^MAPPED_LIBRARIES:$/d' heap.txt | grep -q ' r-xp .*/heap_text$' || fail "no map of the program"

# ---- samples: the reader scales them as we do, but for a unit of each row that it cuts off ----

for rate in 4096 65536; do
    write_forms $rate
    expect_equal "header at $rate" "heap/$((2 * rate))" "$(head -n 1 heap.txt | sed 's/.* @ //')"
    lines=$(rows heap.txt | wc -l)
    for i in 1 2 3 4; do
        expect_near "number $i read from the text at $rate" "$(field $i "$(totals heap.pb.gz.raw)")" \
            "$(field $i "$(totals heap.txt.raw)")" "$lines"
    done
done

# ---- two rates: rows are estimates, as in profile.proto ----

write_forms 4096 65536
expect_equal "header of two rates" heapprofile "$(head -n 1 heap.txt | sed 's/.* @ //')"
for function in alloc_small alloc_big garbage main; do
    expect_equal "what is read for $function at two rates" "$(blocks_of heap.pb.gz.raw $function)" \
        "$(blocks_of heap.txt.raw $function)"
done
# 41000 blocks of 100; those of the second half are sampled once in 656: 2 standard errors are 7500.
expect_near "blocks of alloc_small" 41000 "$(field 1 "$(blocks_of heap.txt.raw alloc_small)")" 15000
echo ok
