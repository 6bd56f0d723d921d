#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, with musl a search beside eight threads that allocate reports nothing (docs/LIMITS.md)
# timeout: 1800
# nightly: 2
#
# test_leak_storm.sh: searches for leaks while other threads move the only pointers to blocks, allocate and free, map
# and unmap, fork, load libraries and start threads, beside memory that may not be touched: each search finds what is
# lost, and nothing else. 20 searches; STRESS=long: 1 000.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need timeout

searches=20 patience=400
[ "${STRESS-}" != long ] || searches=1000 patience=10000

weather() { # THREADS...
    timeout -s KILL "$patience" "$linked/leak_storm" "$searches" "$@" >said 2>&1 || fail "$*: $? $(cat said)"
    tail -n 1 said
}

weather strange
weather churn churn churn churn churn churn churn churn
weather move move move move move move move move
weather rebuild rebuild move churn
weather map map churn fork load start strange
echo ok
