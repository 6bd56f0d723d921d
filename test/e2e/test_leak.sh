#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_leak.sh: the leak profile: what is lost in structures of every kind is found, with its places and
# sizes, and nothing that is kept in any place where a pointer may be.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc

# A line for each sample: objects, bytes, and the names of its stack.
samples() { # RAW
    awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 2 }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { print $1, $2 + 0 }' "$1" >values
    # lib.sh reads profiles of one value, or the first of two
    stacks "$1" | paste values -
}

# What the program says that it has lost and kept, against the profile. At rate 1 at least LEAST percent of the bytes.
compare() { # SAID RAW LEAST
    samples "$2" >samples
    awk -F '\t' -v least="$3" '
        NR == FNR { split($1, v, " "); for (i = 3; i <= NF; i++) if (!((NR, $i) in seen)) {
                        seen[NR, $i] = 1; objects[$i] += v[1]; bytes[$i] += v[2] } next }
        { split($0, word, " ") }
        word[1] == "kept" && objects[word[2]] > 0 { print word[2], "is kept, but", objects[word[2]], "are shown"; bad = 1 }
        word[1] == "lost" {
            wanted += word[4]; found += bytes[word[2]] < word[4] ? bytes[word[2]] : word[4]
            if (bytes[word[2]] > word[4]) { print word[2], "lost", word[4], "but", bytes[word[2]], "are shown"; bad = 1 }
            if (bytes[word[2]] < word[4]) print "found of", word[2], bytes[word[2]], "of", word[4]
        }
        END {
            printf "%.2f %% of the lost bytes are found\n", 100 * found / wanted
            exit bad || 100 * found < least * wanted
        }' samples "$1" >verdict || fail "$1: $(cat verdict)"
    cat verdict
}

# A program that ends.
preload "leak:1,file=$work/end.pb.gz" "$victims/leaks" >end.said
raw end.pb.gz
compare end.said end.pb.gz.raw 95
expect_equal "sample types" "leaked_objects/count leaked_space/bytes[dflt]" \
    "$(sed -n '/^Samples:/{n;p;}' end.pb.gz.raw)"
expect_equal "period type" "PeriodType: space bytes" "$(grep '^PeriodType' end.pb.gz.raw)"
expect_equal "period" "Period: 1" "$(grep '^Period:' end.pb.gz.raw)"
! grep -q '^Duration' end.pb.gz.raw || fail "a leak profile has no duration"
grep -Eq 'age:\[[0-9]+( seconds)?\]' end.pb.gz.raw || fail "no label age: $(grep -A 3 '^Samples' end.pb.gz.raw)"
grep -q 'unreferenced:\[100 percent\]' end.pb.gz.raw || fail "no label unreferenced"
in_read() { # PROCESS THREADS
    [ "$(cat "/proc/$1"/task/*/syscall | grep -c '^[0-9]* 0x0 0x[0-9a-f]* 0x1 ')" -eq "$2" ]
}

# While it runs, asked by a thread of the library: what may be in a register of a waiting thread is left out, and said.
live() { # MODE LEAST THREADS
    rm -f live.pb.gz input
    mkfifo input
    env LIBPPROF="leak:1,http=unix:$work/socket" LD_PRELOAD="$library" "$victims/leaks" "$1" <input >live.said 2>live.err &
    process=$!
    started="$started $process"
    exec 9>input
    wait_until has_line live.said 'done'
    wait_until in_read $process "$3"
    timeout 60 "$BUILD/bin/cpprof" merge -o live.pb.gz "unix:$work/socket:/debug/pprof/leak" || fail "$1: no profile"
    ends_with 0 $process
    raw live.pb.gz
    compare live.said live.pb.gz.raw "$2"
    comments live.pb.gz.raw | grep -q 'read 3 times' || fail "$1: $(comments live.pb.gz.raw)"
}
live wait 80 1
live threads 0 4
comments live.pb.gz.raw | grep -q 'registers of waiting threads may refer to them' || fail "$(comments live.pb.gz.raw)"
expect_at_least "blocks of lost_blocks" 490 "$(weight_with live.pb.gz.raw lost_blocks)"
expect_equal "blocks of lost_by_call" 20 "$(weight_with live.pb.gz.raw lost_by_call)"

live side-by-side 0 4

# Programs that use memory of the allocator's that is in no block: the program break between its blocks, and what a block has
# beyond its size.
cat >kept.c <<'C'
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { COUNT = 50 };
static void **kept[COUNT];
__attribute__((noinline)) void *kept_by_memory(void) { return malloc(100); }
__attribute__((noinline)) void *lost_by_all(void) { return malloc(100); }
__attribute__((noinline)) void keep(int i)
{
#ifdef IN_BREAK
    kept[i] = i > 0 ? kept[0] : sbrk(COUNT * sizeof(void *));
    kept[0][i] = kept_by_memory();
#else
    kept[i] = malloc(8);
    size_t last = malloc_usable_size(kept[i]) / sizeof(void *) - 1;
    kept[i][last] = last > 0 ? kept_by_memory() : NULL;
#endif
}
int main(int argc, char **argv)
{
    static char buffer[1024];
    if ((argc > 2 && chroot(argv[2]) != 0) || (argc > 1 && setuid((uid_t)atoi(argv[1])) != 0)) {
        return 1;
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < COUNT; i++) {
        keep(i);
        lost_by_all();
    }
    volatile char below[16384];
    memset((char *)below, 0, sizeof below);
    printf("kept kept_by_memory\nlost lost_by_all %d %d\n", COUNT, COUNT * 100);
    return 0;
}
C
for way in IN_BREAK IN_SLACK; do
    ! is_musl "$library" || [ $way != IN_BREAK ] || continue # its sbrk gives nothing
    cc -w -O1 -fno-builtin -fno-inline -D$way -o kept kept.c
    preload "leak:1,file=$work/kept.pb.gz" ./kept >kept.said
    raw kept.pb.gz
    compare kept.said kept.pb.gz.raw 95
done

# A process that has changed its user may not open its pagemap, and has a profile that says so. One without /proc says why it
# has none, and does not ask for another place.
if [ "$(id -u)" = 0 ]; then
    "$BUILD/bin/cpprof" record -e leak:1 -o dropped.pb.gz -- ./kept 65534 >dropped.said 2>dropped.err ||
        fail "a program that has changed its user: $(cat dropped.err)"
    raw dropped.pb.gz
    compare dropped.said dropped.pb.gz.raw 95
    expect_contains "a program that has changed its user" dropped.pb.gz.raw "may not open its pagemap"
    mkdir empty
    "$BUILD/bin/cpprof" record -e leak:1 -o refused.pb.gz -- ./kept 65534 empty >refused.said 2>refused.err || true
    expect_contains "a program without /proc" refused.err "the leak profile could not be made: No such file or directory; it reads /proc/self/maps"
fi

# By cpprof, also of a program that allocates too little for the usual rate, and that loses nothing.
"$BUILD/bin/cpprof" record -e leak:1 -o recorded.pb.gz -- "$victims/leaks" >recorded.said 2>recorded.err ||
    fail "record: $(cat recorded.err)"
raw recorded.pb.gz
compare recorded.said recorded.pb.gz.raw 95
"$BUILD/bin/cpprof" record -e leak:1 -o none.pb.gz -- true >none.said 2>none.err || fail "record: $(cat none.err)"
expect_contains "record of nothing" none.err "nothing is lost among the sampled blocks"

# With the usual sampling nothing is shown that is kept, and the estimate of what is lost is near.
preload "leak:4k,file=$work/sampled.pb.gz" "$victims/leaks" >sampled.said
raw sampled.pb.gz
samples sampled.pb.gz.raw >samples
awk -F '\t' '/\tkept_/ { bad = 1 } /lost_large/ { split($1, v, " "); large += v[2] } END { exit bad || large < 4194304 }' \
    samples || fail "sampled: $(cut -f 1-3 samples)"
echo ok
