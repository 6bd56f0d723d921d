#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no compiler of C++ for musl
# timeout: 900
# nightly: 3
#
# test_storm.sh: a program that forks, execs, starts and ends threads, loads and unloads libraries, throws
# and longjmps, all at once, under a 1000 Hz profile: right results, the right exit status, a profile
# that can be read, and nearly all stacks whole. 15 seconds; STRESS=long: ten minutes, and ten more with
# the build in $ASAN_BUILD if that is set (LD_PRELOAD of libasan before the library).
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go

seconds=15
[ "${STRESS-}" != long ] || seconds=600

count=12
i=0
while [ $i -lt $count ]; do
    # Functions of different lengths, so that one library's addresses are other code in the next.
    {
        echo "static volatile int sink;"
        echo "__attribute__((noinline)) static int inner(int n) { volatile char pad[$((16 + i * 40))];" \
            "for (int k = 0; k < n; k++) { pad[k % 16] = (char)k; sink += pad[0]; } return $i; }"
        j=0
        while [ $j -lt $((i * 7)) ]; do
            echo "int filler_$j(int x) { return x * $j + sink; }"
            j=$((j + 1))
        done
        echo "int work(int n) { int r = inner(n); sink += r; return r; }"
    } >lib$i.c
    cc -O1 -fomit-frame-pointer -fPIC -shared -o lib$i.so lib$i.c
    i=$((i + 1))
done

# weather NAME PRELOAD: one storm.
weather() {
    got=0
    env LIBPPROF="cpu:1000,file=$work/$1.pb.gz" LD_PRELOAD="$2" ASAN_OPTIONS=detect_leaks=0 \
        "$victims/storm" $seconds "$work" $count 2>"$1.err" || got=$?
    cat "$1.err"
    expect_equal "the exit status of the storm ($1)" 42 "$got"
    raw "$1.pb.gz"
    grep 'whole stacks' "$1.pb.gz.raw"
    samples=$(weight "$1.pb.gz.raw")
    expect_at_least "samples" 1000 "$samples"
    # "libpprof: timer engine; of N samples taken M have whole stacks, K reached the end by a guess ...": the
    # compiler's _init and its like have no unwind information, and each library that is loaded runs them on
    # pages that are touched for the first time. On a busy machine that is one sample in a hundred.
    sed -n 's/.*of \([0-9]*\) samples taken \([0-9]*\) have whole.*/\1 \2/p' "$1.pb.gz.raw" >whole
    read -r taken whole <whole
    guessed=$(sed -n 's/.* \([0-9]*\) reached the end by a guess.*/\1/p' "$1.pb.gz.raw")
    expect_at_least "whole stacks" $((taken * 99 / 100)) $((whole + ${guessed:-0}))
    expect_at_least "whole stacks without a guess" $((taken * 95 / 100)) "$whole"
    if grep -q 'lost' "$1.pb.gz.raw"; then
        fail "samples were lost: $(grep lost "$1.pb.gz.raw")"
    fi
}

weather release "$library"
if [ "${STRESS-}" = long ] && [ -n "${ASAN_BUILD-}" ]; then
    weather asan "$(cc -print-file-name=libasan.so):$ASAN_BUILD/lib/libpprof.so.0"
fi
echo ok
