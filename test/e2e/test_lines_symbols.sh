#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_lines_symbols.sh: a report on a profile without names finds them in the symbol tables of the program: .symtab, .dynsym, the
# .symtab of a debug file, and mini-debuginfo.
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
build && cp p.pb.gz before.pb.gz && build -DOTHER -O2 -Wl,--build-id=0xabcd && cp before.pb.gz p.pb.gz
"$cpprof" top p.pb.gz | grep -q ' outer$' && fail "the symbols of another build"
echo ok
