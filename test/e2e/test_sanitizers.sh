#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_sanitizers.sh: programs that are built with a sanitizer and linked to the library, which is not: no false
# alarm about what it fills in, and the alarms that the program deserves.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
tried=
export ASAN_OPTIONS=detect_leaks=0

# build COMPILER SANITIZER: ./records; fails if that is not to be had here.
build() {
    command -v "$1" >/dev/null &&
        "$1" -g -O1 -fno-inline -fno-optimize-sibling-calls "-fsanitize=$2" -D_GNU_SOURCE -I "$SRC/include" \
            -o records "$SRC/test/e2e/sanitized/records.c" -L "$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lpprof \
            -lpthread 2>build.errors && ./records >/dev/null 2>&1
}

reports() { # CASE TEXT: that case is reported, and why
    ./records "$1" >out 2>errors && fail "$compiler, $sanitizer: $1 is not reported"
    expect_contains "$compiler, $sanitizer: $1" errors "$2"
}

for compiler in gcc clang; do
    for sanitizer in address thread memory; do
        build $compiler $sanitizer || continue
        tried="$tried $compiler-$sanitizer"
        [ "$(status ./records read 2>errors | tail -n 1)" = 0 ] ||
            fail "$compiler, $sanitizer: a false alarm: $(cat errors)"
        case $sanitizer in
        address)
            reports short "in pp_sanitizers_write"
            reports freed heap-use-after-free
            ;;
        thread) reports race "data race" ;;
        esac
    done
done
[ -n "$tried" ] || skip "no compiler has a sanitizer here"
echo "ok:$tried"
