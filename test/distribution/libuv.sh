#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libuv.sh: libuv's own tests, built from the distribution's source package. Each test is a process that starts others
# of the same program: helpers that serve it. Ports are fixed, so there is one job.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
JOBS=1
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

debian_source libuv1
program=$WORK/built/uv_run_tests
[ -x "$program" ] || (
    echo "building in $WORK/built"
    mkdir -p "$WORK/built"
    cd "$WORK/built"
    cmake -DBUILD_TESTING=ON "$WORK/libuv1" && make -j "$(nproc)" uv_run_tests
) >"$WORK/build.log" 2>&1 || {
    tail -n 20 "$WORK/build.log" >&2
    exit 1
}
demote

# shellcheck disable=SC2086 # several words, or none
units() { $user "$program" --list; }

# The program looks for fixtures in the present folder.
run_unit() {
    ln -s "$WORK/libuv1/test" test
    with "$1" "$program" "$2"
}

# "ok 1 - timer", "not ok 1 - timer"; what is skipped is ok.
outcomes() { sed -n -e 's/^ok [0-9]* - \([^ ]*\).*/ok \1/p' -e 's/^not ok [0-9]* - \([^ ]*\).*/failed \1/p'; }

compare_suite
