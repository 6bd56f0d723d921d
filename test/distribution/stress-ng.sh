#!/bin/sh
# SPDX-License-Identifier: MIT
#
# stress-ng.sh: each stressor of stress-ng, as it is packaged, for a second, with its own checks (--verify). A unit is a
# stressor; it has no other test than its status: 0 passed, 3 not to be had here.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

command -v stress-ng >/dev/null || {
    echo "there is no stress-ng: install the package" >&2
    exit 1
}
JOBS=1
demote

# Those that stop or reconfigure a machine are left out by stress-ng itself, unless it is asked for them; here, those
# that take all memory or all files of the machine from other programs.
units() {
    stress-ng --stressors | tr ' ' '\n' |
        sed -e '/^$/d' -e '/^\(bigheap\|brk\|stack\|oom-pipe\|resources\)$/d'
}

run_unit() {
    with "$1" stress-ng --"$2" 1 --timeout 1 --verify --temp-path . --no-rand-seed --log-brief \
        --vm-bytes 64M --abort 2>&1
}

outcomes() { :; }

compare_suite
