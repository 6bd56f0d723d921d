#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_tested_by.sh: every source of the library and of cpprof has a unit test of its name, or a line " * Tested by: TEST, TEST..."
# with tests that exist (those of ctest, or fuzz.NAME). Lists the sources that have neither.

set -eu
cd "$SRC"
failures=0
fail() {
    echo "FAIL: $1" >&2
    failures=$((failures + 1))
}

# exists TEST: unit.walk, e2e.names, interleave.labels, stress.storm, tools.zones, fuzz.elf, compare
exists() {
    case $1 in
    fuzz.*) [ -e "test/fuzz/fuzz_${1#*.}.c" ] ;;
    unit.cmd_*) [ -e "test/unit/${1#*.}.c" ] ;;
    unit.* | interleave.*) [ -e "test/${1%%.*}/test_${1#*.}.c" ] ;;
    e2e.* | stress.* | tools.* | page.*) [ -e "test/${1%%.*}/test_${1#*.}.sh" ] ;;
    toy_kind.*) [ -d test/toy_kind ] ;;
    *) false ;;
    esac
}

count=0
for source in $(find src http push cmd remote -name '*.c' ! -path cmd/main.c | sort); do
    count=$((count + 1))
    name=${source##*/}
    case $source in
    cmd/*) unit_test=test/unit/cmd_$name ;;
    *) unit_test=test/unit/test_$name ;;
    esac
    [ ! -e "$unit_test" ] || continue
    tests=$(sed -n '1,/\*\//s/^ \* Tested by: *//p' "$source" | sed 's/\.$//; s/,/ /g')
    [ -n "$tests" ] || fail "$source: there is neither $unit_test nor a line ' * Tested by:' in its head"
    for test in $tests; do
        exists "$test" || fail "$source: 'Tested by: $test': there is no such test"
    done
done

[ $failures -eq 0 ] || exit 1
echo "tested by: $count sources"
