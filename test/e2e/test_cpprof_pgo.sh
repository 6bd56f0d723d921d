#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_pgo.sh: `cpprof convert -o FILE.afdo-text` writes which lines run how often, relative to their functions, also those of
# inlined functions; clang takes it; it is refused where the program is another build, has no debug information, or
# the profile is of something else.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc
cpprof=$BUILD/bin/cpprof

cat >program.c <<'END'
static inline unsigned step(unsigned x)
{
    return x * 1103515245u + 12345u;
}

__attribute__((noinline)) static unsigned often(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++) {
        x = step(x);
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

int main(void)
{
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += often(100000000u);
    }
    return sum == 1;
}
END

build() { # FLAGS...
    cc -O2 "$@" -o program program.c || fail "cc $*"
}

# refuses WHAT TEXT: the profile is not converted, and the complaint has the text.
refuses() {
    status=0
    "$cpprof" convert -o refused.afdo-text prof.pb.gz 2>err || status=$?
    expect_equal "$1: exit status" 1 "$status"
    expect_contains "$1" err "$2"
    expect_no_file refused.afdo-text
}

build -g
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
"$cpprof" convert -o prof.afdo-text prof.pb.gz 2>err || fail "convert: $(cat err)"
sed -n 1p prof.afdo-text | grep -Eq '^often:[1-9][0-9]*:[0-9]+$' || fail "the first function: $(cat prof.afdo-text)"

# What runs in the loop: line 4 of often(), into which line 2 of step() is inlined, and the lines around it.
most=$(awk -F ': ' '/^often:/ { inside = 1; next } /^[^ ]/ { inside = 0 }
                    inside && $2 ~ /^[0-9]+$/ && $2 > most { most = $2; place = $1 } END { print place + 0 }' prof.afdo-text)
case $most in
2 | 3 | 4 | 5) ;;
*) fail "the line that runs most often is $most: $(cat prof.afdo-text)" ;;
esac
grep -Eq '^ 4(\.[0-9]+)?: step:[1-9][0-9]*$' prof.afdo-text || fail "no inlined step(): $(cat prof.afdo-text)"
grep -Eq '^  2(\.[0-9]+)?: [1-9][0-9]*$' prof.afdo-text || fail "no line of step(): $(cat prof.afdo-text)"

if command -v clang >/dev/null; then
    clang -O2 -g -fprofile-sample-use=prof.afdo-text -S -emit-llvm -o program.ll program.c 2>err || fail "clang: $(cat err)"
    grep -q 'function_entry_count' program.ll || fail "clang takes nothing from the profile"
fi

# Twice the profile is the same profile.
"$cpprof" merge -o two.pb.gz prof.pb.gz prof.pb.gz && "$cpprof" convert -o two.afdo-text two.pb.gz 2>err || fail "two: $(cat err)"
expect_equal "functions of two profiles" "$(grep -c '^[^ ]' prof.afdo-text)" "$(grep -c '^[^ ]' two.afdo-text)"

build -g -DOTHER=1 -fno-inline
refuses "another build" "another build"

build
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
refuses "no debug information" "no debug information"

"$cpprof" record -e heap --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record -e heap"
refuses "a heap profile" "expected a CPU profile, found one of space"
