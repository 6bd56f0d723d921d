#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_check_abi.sh: the public functions are those of tools/abi/; a type that changes and a function that disappears are found,
# a new function is not. The libraries have the SONAMEs that docs/ABI.md names.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc readelf

# ---- names ----

for library in pprof pprof-http pprof-push; do
    [ -e "$BUILD/lib/lib$library.so.0" ] || continue
    expect_equal "SONAME" "lib$library.so.0" "$(readelf -dW "$BUILD/lib/lib$library.so.0" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
done

# ---- types ----

command -v abidiff >/dev/null || absent abigail-tools
"$SRC/tools/check-abi" "$BUILD/lib/libpprof.so.0" "$BUILD/lib/libpprof-http.so.0" >abi.out 2>&1 || fail "$(cat abi.out)"

# A small library, with a baseline of its own beside a copy of the tool.
mkdir -p there/tools there/include
cp "$SRC/tools/check-abi" there/tools/
cat >there/include/pprof.h <<'C'
typedef struct pprof_options { int size; } pprof_options;
int pprof_first(const pprof_options *options);
int pprof_second(int number);
C
# built DEFINITION...: a library with these besides pprof_first.
built() {
    { echo '#include "pprof.h"'; printf '%s\n' 'int pprof_first(const pprof_options *o) { return o->size; }' "$@"; } >there/library.c
    cc -g -shared -fPIC -I there/include -o there/libpprof.so.0 there/library.c || fail "cc"
}
second='int pprof_second(int number) { return number; }'
built "$second"
there/tools/check-abi --update "$work/there/libpprof.so.0" || fail "a new baseline"
built "$second" 'int pprof_third(void); int pprof_third(void) { return 3; }'
there/tools/check-abi "$work/there/libpprof.so.0" >abi.out || fail "a new function: $(cat abi.out)"
built
expect_equal "a function less" 1 "$(status sh -c 'there/tools/check-abi "$PWD/there/libpprof.so.0" >abi.out 2>&1')"
expect_contains "a function less" abi.out pprof_second
sed -i 's/int size;/long size;/' there/include/pprof.h
built "$second"
expect_equal "another type" 1 "$(status sh -c 'there/tools/check-abi "$PWD/there/libpprof.so.0" >abi.out 2>&1')"
expect_contains "another type" abi.out pprof_first
echo ok
