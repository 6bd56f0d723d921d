#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_check_mapping.sh: tools/check-mapping passes a document whose tests are there, names each thing that is
# missing, and passes the one of this tree.

set -eu
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tools" "$tree/docs" "$tree/include" "$tree/test/unit" "$tree/test/e2e"
cp "$SRC/tools/check-mapping" "$tree/tools/"
cd "$tree"

fail() {
    echo "FAILED: $1" >&2
    echo "--- what check-mapping said:" >&2
    cat out >&2
    exit 1
}

cat >include/pprof.h <<'H'
#define PPROF_API __attribute__((visibility("default")))
typedef struct pprof_writer { int (*write)(void *ctx); } pprof_writer;
PPROF_API int pprof_one(int a);
PPROF_API const char *pprof_two(void);
PPROF_API void pprof_heap_cycle_next(void);   PPROF_API int pprof_three(int a,
                                                                         int b);
H
echo 'cmocka_unit_test(good), cmocka_unit_test_teardown(also_good, release),' >test/unit/test_some.c
echo true >test/e2e/test_whole.sh
good='| `pprof_one`, `pprof_two` | `unit.some`, `unit.some/good`, `unit.some/also_good` |
| `pprof_heap_cycle_*`, `pprof_three`: x | `e2e.whole` |'
echo "$good" >docs/GO-MAPPING.md
tools/check-mapping >out 2>&1 || fail "a good document did not pass"

# refuses LINE MESSAGE: that line added, exactly this is said.
refuses() {
    printf '%s\n%s\n' "$good" "$1" >docs/GO-MAPPING.md
    ! tools/check-mapping >out 2>&1 || fail "it passed: $1"
    [ "$(cat out)" = "docs/GO-MAPPING.md: $2" ] || fail "it should have said: $2"
}
refuses '`unit.none`' 'there is no test unit.none (test/unit/test_none.c)'
refuses '`unit.some/goo`' 'test/unit/test_some.c has no case goo'
refuses '`unit.some/bad`' 'test/unit/test_some.c has no case bad'
refuses '`stress.whole`' 'there is no test stress.whole (test/stress/test_whole.sh)'
echo 'PPROF_API void pprof_four(void);' >>include/pprof.h
refuses '' 'pprof_four is not mentioned'

"$SRC/tools/check-mapping" >out 2>&1 || fail "the document of this tree"
cat out
