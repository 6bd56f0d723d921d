#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_thread_waits.sh: profiles of a thousand threads that wait disturb none of them and have their stacks
# (what is checked stands in linked/thread_waits.c); also in a process that has changed its user.
#
# timeout: 300
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

# waits NAME...: runs a program, shows what it said if it fails.
waits() {
    program=$1
    shift
    "$linked/$program" "$@" >out.txt 2>&1 || fail "$program $*: $(cat out.txt)"
}

for name in thread_waits thread_waits_unoptimized; do
    waits "$name" 100
    waits "$name" 10 closed
done
echo ok
