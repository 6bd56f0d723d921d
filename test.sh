#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./test.sh [--quick] [--port aarch64|aarch64-musl|musl|old-glibc] [--all | --third N]: installs what is missing, builds, and runs the tests.
#
#   release   unit, end-to-end and tool tests
#   asan      AddressSanitizer and UndefinedBehaviorSanitizer: unit tests, and cpprof's      (not with --quick)
#
# --port aarch64 does it for another architecture on this machine: unit tests by qemu-user; those that fail for want of a
# kernel of its own, and end-to-end tests, in a virtual machine (tools/port). A test counts by its last result. --port musl does it for
# musl, whose programs run here as they are: unit tests and the end-to-end tests without a line "# libc: glibc"; --port aarch64-musl
# does both. --port old-glibc runs end-to-end tests on programs with the glibc of Debian 11 (tools/glibc-root).
#
# The daily set. The nightly one has what takes long: storms, odd hosts, tables of cases; its tests are in three thirds.
# --third N runs the daily set and one of them, --all everything.
#
# PPROF_WERROR=ON makes warnings errors, PPROF_ABSENT=fails makes a test fail that is skipped for want of a program:
# as .ci/run has it.
#
# Asks nothing, needs no terminal, can be called from anywhere. Ends with the line
# "N passed, N failed"; exits with 0 only if everything was built and nothing failed. The line "system: ..." is for README's
# table (tools/systems).

set -eu
exec </dev/null
cd "$(dirname "$0")"

usage() {
    echo "usage: ./test.sh [--quick] [--port aarch64|aarch64-musl|musl|old-glibc] [--all | --third 1|2|3]" >&2
    exit 2
}

presets="release asan"
port=
left_out='^nightly-' # a regular expression on ctest's labels
while [ $# -gt 0 ]; do
    case "$1 ${2-}" in
    "--quick "*) [ -n "$port" ] || presets=release ;;
    "--port aarch64" | "--port aarch64-musl" | "--port musl" | "--port old-glibc")
        port=$2 presets=$2
        shift
        ;;
    "--all "*) left_out='^$' ;;
    "--third "[123])
        left_out="^nightly-[^$2]"
        shift
        ;;
    *) usage ;;
    esac
    shift
done

jobs=$(nproc 2>/dev/null || echo 2)
[ "$jobs" -le 8 ] || jobs=8

# shellcheck disable=SC2086 # one word or none
tools/bootstrap build test ${port:+port-$port}
[ -z "$port" ] || tools/port $port make

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

status=0
for preset in $presets; do
    echo "== $preset: build"
    cmake --preset "$preset" -DPPROF_TESTS=ON -DPPROF_WERROR="${PPROF_WERROR:-OFF}"
    cmake --build --preset "$preset" -j "$jobs"
    echo "== $preset: test"
    # Many tests wait, so there are more than processors. The status of ctest, not of tee.
    if [ -z "$port" ]; then
        { ctest --preset "$preset" -LE "$left_out" -j $((2 * jobs + 1)) --no-tests=error 2>&1 ||
            echo "ctest-status $?"; } | tee -a "$log"
    else
        { tools/port "$port" tests "$left_out" 2>&1 || echo "ctest-status $?"; } | tee -a "$log"
    fi
done
! grep -q '^ctest-status' "$log" || status=1

# on_what: the system, as README's table has it: "x86-64, glibc 2.36 (Debian 12)".
on_what() {
    # shellcheck source=/dev/null
    where=$(. /etc/os-release 2>/dev/null && echo "${NAME%% *} ${VERSION_ID-}")
    libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | sed -n 's/^Version /musl /p')
    machine=$(uname -m | tr _ -)
    case $port in
    aarch64) echo "aarch64, $libc ($where, emulated)" ;;
    aarch64-musl) echo "aarch64, musl (on $where, emulated)" ;;
    musl) echo "$machine, musl (on $where)" ;;
    old-glibc) echo "$machine, glibc $(tools/port old-glibc version) (on $where)" ;;
    *) echo "$machine, $libc ($where)" ;;
    esac
}

# ctest's lines: " 3/12 Test  #7: unit.arena ......   Passed    0.01 sec"
awk -v port="$port" -v on_what="$(on_what)" -v command="./test.sh${port:+ --port $port}" '
    /^Test project / && port == "" { run++ }
    $2 == "Test" && $3 ~ /^#[0-9]+:$/ {
        result[$4 " " run] = / Passed +[0-9.]+ sec/ ? "passed" : /\*\*\*Skipped/ ? "skipped" : "failed"
    }
    END {
        for (test in result) {
            name = test; sub(/ .*/, "", name)
            if (result[test] == "passed")       passed++
            else if (result[test] == "skipped") skipped = skipped " " name
            else                                { failed++; names = names " " name }
        }
        print ""
        if (skipped != "") print "skipped:" skipped
        if (failed)        print "failed:" names
        printf "system: %s | %s | %d passed, %d failed, %d skipped\n", on_what, command, passed, failed, split(skipped, all)
        printf "%d passed, %d failed\n", passed, failed
    }' "$log"
exit $status
