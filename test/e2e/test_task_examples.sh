#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, musl has no makecontext, and Debian no compiler of C++ for it
#
# test_task_examples.sh: the adapters of examples/tasks_*: of a hundred sessions a quarter waits for the database, the rest for
# requests, each on a whole stack.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# waits RAW PATTERN: the weight of the stacks that match, as names, leaf first, between tabs
waits() { stacks "$1" | awk -v wanted="$2" '$0 ~ wanted { sum += $1 } END { print sum + 0 }'; }

# example NAME DATABASE REQUEST: the patterns of both kinds of stacks
example() {
    [ -x "$BUILD/examples/tasks_$1" ] || return 0
    "$BUILD/examples/tasks_$1" "$1.pb.gz" >"$1.out" || fail "status of tasks_$1: $?"
    expect_contains "tasks of $1" "$1.out" "100 tasks wait"
    raw "$1.pb.gz"
    expect_equal "threads and tasks of $1" 101 "$(weight "$1.pb.gz.raw")"
    expect_equal "for the database in $1" 25 "$(waits "$1.pb.gz.raw" "$2")"
    expect_equal "for requests in $1" 75 "$(waits "$1.pb.gz.raw" "$3")"
    expect_equal "stacks that lack frames in $1" 0 "$(weight_with "$1.pb.gz.raw" pprof_missing_frames)"
    found="$found $1"
}

found=
example ucontext '^25	co_wait	query_database	place_order	order_session	enter	' \
    '^75	co_wait	read_request	idle_session	enter	'
# C++ has the name within the symbol.
example boost '^25	.*	[^	]*query_database[^	]*	[^	]*serve[^	]*	' \
    '^75	.*	[^	]*read_request[^	]*	[^	]*serve[^	]*	'
example coroutines '^25	[^	]*query[^	]*	[^	]*handle_request[^	]*	[^	]*serve[^	]*$' \
    '^75	[^	]*serve[^	]*$'
[ -n "$found" ] || skip "no example was built"
echo "ok ($found )"
