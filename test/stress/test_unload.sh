#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, musl has no backtrace(), with which stacks are compared
#
# test_unload.sh: libraries that come and go at the same addresses, under 10 kHz of perf events, then under
# timers: every walk is checked as it is made, and none is wrong. With rules that outlive their library
# wrong ones are found. Ten seconds; STRESS=long: ten minutes.
# timeout: 900
# nightly: 3
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go
[ -x "$BUILD/test/stress/unload" ] || skip "the libraries of this test are written for x86-64"

seconds=5
[ "${STRESS-}" != long ] || seconds=600

count=24
i=0
while [ $i -lt $count ]; do
    cc -shared -nostartfiles -DLIBRARY=$i -o lib$i.so "$SRC/test/stress/unload_library.S"
    i=$((i + 1))
done

# unload SECONDS SAMPLES ENGINE [stale]: what it found is in the file `counts`, its exit status in $got.
unload() {
    got=0
    "$BUILD/test/stress/unload" "$work" $count "$1" "$2" "$3" "$work/$3.pb.gz" ${4+"$4"} >counts || got=$?
}

# walks KIND: how many there were.
walks() { sed -n "s/^$1: \([0-9]*\) walks.*/\1/p" counts; }

# whole KIND: how many of them were whole.
whole() {
    sed -n "s/^$1: //p" counts | awk '{ print $1 - $3 - $9 - $11 - $13 }'
}

# expect_right ENGINE SAMPLES: in a storm of at least so many samples in libraries no stack is wrong, and
# hardly one is not whole.
expect_right() {
    unload $seconds "$2" "$1"
    cat counts
    expect_equal "status of a storm under the engine $1" 0 "$got"
    for kind in 'leaf in a library' pprof_callers; do
        expect_at_least "walks, $kind, under the engine $1" "$2" "$(walks "$kind")"
        expect_at_least "whole ones" "$(percent "$(walks "$kind")" 99.9)" "$(whole "$kind")"
    done
    expect_at_least "libraries where another one was before" 20 \
        "$(sed -n 's/.* loads, \([0-9]*\) of the runners.*/\1/p' counts)"
    raw "$1.pb.gz"
    comments "$1.pb.gz.raw" | grep 'engine; of'
}

expect_right timer 50
expect_right perf 1000

# The same with rules that stay in use when their library is gone.
unload 0 0 timer stale
head -n 4 counts
expect_equal "status of a storm with stale rules" 1 "$got"
echo ok
