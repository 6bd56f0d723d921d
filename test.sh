#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./test.sh [--quick]: installs what is missing, builds, and runs every test.
#
#   release   unit, end-to-end, stress and tool tests
#   asan      AddressSanitizer and UndefinedBehaviorSanitizer: unit tests      (not with --quick)
#
# PPROF_WERROR=ON makes warnings errors, PPROF_ABSENT=fails makes a test fail that is skipped for want of a program:
# as .ci/run has it.
#
# Asks nothing, needs no terminal, can be called from anywhere. Ends with the line
# "N passed, N failed"; exits with 0 only if everything was built and nothing failed.

set -eu
exec </dev/null
cd "$(dirname "$0")"

presets="release asan"
case "${1-}" in
"") ;;
--quick) presets=release ;;
*)
    echo "usage: ./test.sh [--quick]" >&2
    exit 2
    ;;
esac

jobs=$(nproc 2>/dev/null || echo 2)
[ "$jobs" -le 8 ] || jobs=8

tools/bootstrap build test

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

status=0
for preset in $presets; do
    echo "== $preset: build"
    cmake --preset "$preset" -DPPROF_TESTS=ON -DPPROF_WERROR="${PPROF_WERROR:-OFF}"
    cmake --build --preset "$preset" -j "$jobs"
    echo "== $preset: test"
    # Many tests wait, so there is one more than processors. The status of ctest, not of tee.
    { ctest --preset "$preset" -j $((jobs + 1)) --no-tests=error 2>&1 || echo "ctest-status $?"; } | tee -a "$log"
done
! grep -q '^ctest-status' "$log" || status=1

# ctest's lines: " 3/12 Test  #7: unit.arena ......   Passed    0.01 sec"
awk '
    $2 == "Test" && $3 ~ /^#[0-9]+:$/ {
        if (/ Passed +[0-9.]+ sec/) passed++
        else if (/\*\*\*Skipped/)   skipped = skipped " " $4
        else                        { failed++; names = names " " $4 }
    }
    END {
        print ""
        if (skipped != "") print "skipped:" skipped
        if (failed)        print "failed:" names
        printf "%d passed, %d failed\n", passed, failed
    }' "$log"
exit $status
