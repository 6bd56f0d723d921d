#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_fdata.sh: `cpprof convert -o FILE.fdata` writes samples by symbol and offset, with the numbers that BOLT gives to local
# symbols of one name; several processes are added up; a library without symbols is left out, and named; llvm-bolt takes all of it; it is
# refused where the program is another build or has no symbols, or the profile is of something else.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/pgo.sh
. "$SRC/test/e2e/pgo.sh"
need cc nm strip objcopy
cpprof=$BUILD/bin/cpprof

cat >program.c <<'END'
__attribute__((noinline)) static unsigned twist(unsigned x)
{
    return x * 1103515245u + 12345u;
}

unsigned other(unsigned n);

int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        sum += other(90000000u) + twist(i);
        for (unsigned j = 0; j < 20000000u; j++) {
            __asm__ volatile("" : "+r"(sum));
        }
    }
    return sum == 1;
}
END
cat >other.c <<'END'
__attribute__((noinline)) static unsigned twist(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245u + 12345u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

unsigned other(unsigned n)
{
    return twist(n) + 1;
}
END

build() { # FLAGS...
    cc -O2 -Wl,--emit-relocs "$@" -o program program.c other.c || fail "cc $*"
}

record_program() { # FILE
    "$cpprof" record -e cpu --no-subprocesses -o "$1" -- ./program >/dev/null 2>&1 || fail "record"
}

# refuses WHAT TEXT: the profile is not converted, and the complaint has the text.
refuses() {
    status=0
    "$cpprof" convert -o refused.fdata prof.pb.gz 2>err || status=$?
    expect_equal "$1: exit status" 1 "$status"
    expect_contains "$1" err "$2"
    expect_no_file refused.fdata
}

# samples FILE SYMBOL SIZE: the samples within the symbol's bytes; each line has the form that BOLT reads.
samples() {
    expect_equal "$1: the first line" "no_lbr cycles" "$(head -n 1 "$1")"
    ! sed 1d "$1" | grep -Evx '1 [^ ]+ [0-9a-f]+ [1-9][0-9]*' || fail "$1 has other lines: $(cat "$1")"
    sum=0
    while read -r _ name offset count; do
        if [ "$name" = "$2" ] && [ $((0x$offset)) -lt $((0x$3)) ]; then
            sum=$((sum + count))
        fi
    done <"$1"
    echo "$sum"
}

# The hot twist() is the longer one. Its number is its place among those of that name.
for pie in -no-pie -pie; do
    build -fPIE $pie
    nm -nS program | grep ' t twist$' >twists
    expect_equal "twist()s" 2 "$(wc -l <twists)"
    size=$(cut -d ' ' -f 2 twists | sort | tail -n 1)
    hot=twist/$(grep -n " $size " twists | cut -d : -f 1)

    record_program prof.pb.gz
    "$cpprof" convert -o prof.fdata prof.pb.gz 2>err || fail "convert: $(cat err)"
    [ ! -s err ] || fail "convert complains: $(cat err)"
    hot_count=$(samples prof.fdata "$hot" "$size")
    all=$(awk 'NR > 1 { sum += $4 } END { print sum }' prof.fdata)
    [ $((2 * hot_count)) -gt "$all" ] || fail "$pie: $hot has $hot_count samples: $(cat prof.fdata)"
done

# Another process has the program at other addresses.
record_program again.pb.gz
"$cpprof" convert -o again.fdata again.pb.gz 2>err || fail "again: $(cat err)"
"$cpprof" convert -o two.fdata prof.pb.gz again.pb.gz 2>err || fail "two: $(cat err)"
expect_equal "samples of two profiles" $((hot_count + $(samples again.fdata "$hot" "$size"))) "$(samples two.fdata "$hot" "$size")"

cp program kept
strip program
refuses "no symbols" "it has no table of symbols"
build -O1
refuses "another build" "another build"

# Most of the samples are in a library without symbols.
cc -O2 -shared -fPIC -s -o libother.so other.c || fail "cc -shared"
cc -O2 -o program program.c -L. -lother -Wl,-rpath,"$PWD" || fail "cc -lother"
record_program prof.pb.gz
"$cpprof" convert -o prof.fdata prof.pb.gz 2>err || fail "convert with a library: $(cat err)"
grep -q 'libother.so, which has most of the samples: it has no table of symbols .*; taking .*/program$' err || fail "libother.so: $(cat err)"
grep -q '^1 main ' prof.fdata || fail "no main() of the program: $(cat prof.fdata)"

# A function without a size does not get the samples of the next section.
build_nameless -g0
record_program prof.pb.gz
"$cpprof" convert -o prof.fdata prof.pb.gz 2>err || fail "convert nameless(): $(cat err)"
grep -q '^1 main ' prof.fdata || fail "no main() before nameless(): $(cat prof.fdata)"
! grep -q '^1 sizeless ' prof.fdata || fail "sizeless() has nameless()'s samples: $(cat prof.fdata)"

"$cpprof" record -e heap --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record -e heap"
refuses "a heap profile" "expected a CPU profile, found one of space"

bolt=$(command -v llvm-bolt || find /usr/bin -name 'llvm-bolt-[0-9]*' | sort -V | tail -n 1)
[ -n "$bolt" ] || skip "no llvm-bolt to read the profile; the rest has passed"
"$bolt" kept -o bolted --data two.fdata --reorder-blocks=ext-tsp >bolt.out 2>&1 || fail "llvm-bolt: $(cat bolt.out)"
expect_contains "llvm-bolt" bolt.out "operating with basic samples profiling data"
expect_equal "functions with samples" "$(sed 1d two.fdata | cut -d ' ' -f 2 | sort -u | wc -l)" \
    "$(sed -n 's/.*INFO: \([0-9]*\) out of [0-9]* functions in the binary .*non-empty execution profile.*/\1/p' bolt.out)"
! grep -Ei 'invalid|stale|corrupt|mismatch|no valid' bolt.out || fail "llvm-bolt complains: $(cat bolt.out)"
./bolted || fail "the program that llvm-bolt wrote ends with $?"
