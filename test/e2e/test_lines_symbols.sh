#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_lines_symbols.sh: a report on a profile without names finds them in the symbol tables of the program: .symtab, .dynsym, the
# .symtab of a debug file, and mini-debuginfo. So it does for single locations without one.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need cc objcopy strip
cpprof=$BUILD/bin/cpprof

build() { # FLAGS...
    rm -f program program.*
    cc -O1 "$@" -I "$SRC/include" -o program "$SRC/test/e2e/lines/variant.c" "$library" -Wl,-rpath,"${library%/*}"
    LIBPPROF=symbolize=none ./program p.pb.gz
}

# expect_names WHAT
expect_names() {
    "$cpprof" top p.pb.gz 2>err | grep -q ' outer$' || fail "$1: no name in $("$cpprof" top p.pb.gz)"
    [ ! -s err ] || fail "$1: $(cat err)"
    "$cpprof" raw --symbolize=none p.pb.gz | grep -q outer && fail "$1: --symbolize=none has names"
    return 0
}

build && expect_names ".symtab"
build -rdynamic && strip program && expect_names ".dynsym"
build -g && objcopy --only-keep-debug program program.debug && objcopy --strip-all --add-gnu-debuglink=program.debug program
"$cpprof" top p.pb.gz | grep -q ' inner (inline)$' || fail "a debug file: $("$cpprof" top p.pb.gz)"
if command -v xz >/dev/null; then
    build && objcopy --only-keep-debug program mini && strip --strip-debug --remove-section=.comment mini
    xz -f mini && objcopy --add-section .gnu_debugdata=mini.xz program && strip program
    expect_names "mini-debuginfo"
fi
# ---- locations without a name in a program with names

# separate FLAGS...: p.pb.gz is of the program with dynamic symbols only; then the whole program takes its place.
separate() {
    rm -f program program.*
    cc -O1 -rdynamic "$@" -I "$SRC/include" -o program "$work/some.c" "$library" -Wl,-rpath,"${library%/*}"
    cp program whole
    strip program
    ./program p.pb.gz
    "$cpprof" raw --symbolize=none p.pb.gz >raw
    grep -q ' for_all ' raw || fail "the dynamic symbol is missing: $(cat raw)"
    grep -q own_work raw && fail "the profile has the name of a local function"
    "$cpprof" top p.pb.gz >out 2>err
    grep -q own_work out && fail "a name that is nowhere: $(cat out)"
    [ ! -s err ] || fail "a stripped program: $(cat err)"
    mv whole program
}

# expect_completed WHAT
expect_completed() {
    for words in "top" "tree" "traces" "raw" "top --json" "peek ." "convert -o - --to folded" "convert -o - --to dot"; do
        # shellcheck disable=SC2086 # words
        "$cpprof" $words p.pb.gz >out 2>err || fail "$1, $words: $(cat err)"
        grep -q own_work out || fail "$1, $words: no name in $(cat out)"
        grep -q for_all out || fail "$1, $words: no dynamic name in $(cat out)"
        [ ! -s err ] || fail "$1, $words: $(cat err)"
        # shellcheck disable=SC2086 # words
        "$cpprof" $words --symbolize=none p.pb.gz | grep -q own_work && fail "$1, $words --symbolize=none has names"
    done
    "$cpprof" symbolize -o q.pb.gz p.pb.gz 2>err || fail "$1: $(cat err)"
    "$cpprof" raw --symbolize=none q.pb.gz | grep -q own_work || fail "$1: symbolize has written no name"
    "$cpprof" flame -o page.html p.pb.gz
}

cat >some.c <<'C'
#include <pprof.h>
#include <stdio.h>
static __attribute__((noinline)) int own_work(pprof_profile *things) { return pprof_profile_add(things, things, 0) + 1; }
__attribute__((noinline)) int for_all(pprof_profile *things) { return own_work(things) + 1; }
int main(int argc, char **argv)
{
    pprof_profile *things = pprof_new_profile("things");
    int done = for_all(things);
    FILE *out = fopen(argv[argc - 1], "w");
    return done != 2 || pprof_profile_write(things, pprof_writer_stdio(out), 0) != 0 || fclose(out) != 0;
}
C
separate && expect_completed "the program's .symtab"
separate -g && expect_completed "the .symtab of a program with lines"
"$cpprof" top p.pb.gz | grep -q ' own_work$' || fail "a name is no whole one: $("$cpprof" top p.pb.gz)"
separate -no-pie && expect_completed "a program at fixed addresses"
separate && objcopy --only-keep-debug program program.debug &&
    objcopy --strip-all --add-gnu-debuglink=program.debug program && expect_completed "the .symtab of a debug file without lines"
mkdir .debug && mv program.debug .debug && expect_completed "the same in .debug" && rm -r .debug
if command -v xz >/dev/null; then
    separate && objcopy --only-keep-debug program mini && strip --strip-debug --remove-section=.comment mini
    xz -f mini && objcopy --add-section .gnu_debugdata=mini.xz program && strip program
    expect_completed "mini-debuginfo of a program with names"
fi
separate && cp p.pb.gz before.pb.gz && separate -O2 -Wl,--build-id=0xabcdabcdabcdabcdabcdabcdabcdabcdabcdabcd && cp before.pb.gz p.pb.gz
"$cpprof" top p.pb.gz >out 2>err
grep -q own_work out && fail "a name of another build: $(cat out)"
grep -q '^cpprof: no names of program: the file is of another build than [0-9a-f]*, which was profiled$' err || fail "another build is not said: $(cat err)"
[ "$(wc -l <err)" = 1 ] || fail "another build: $(cat err)"
"$cpprof" top --symbolize=none p.pb.gz >out 2>err
[ ! -s err ] || fail "--symbolize=none complains: $(cat err)"

# ---- another build

build && cp p.pb.gz before.pb.gz && build -DOTHER -O2 -Wl,--build-id=0xabcd && cp before.pb.gz p.pb.gz
"$cpprof" top p.pb.gz | grep -q ' outer$' && fail "the symbols of another build"
echo ok
