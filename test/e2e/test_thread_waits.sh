#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_thread_waits.sh: profiles of a thousand threads that wait disturb none of them and have their stacks
# (what is checked stands in linked/thread_waits.c); also in a process that has changed its user.
#
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

# waits NAME ARGUMENT...: runs a program, shows what it said if it fails.
waits() {
    waits_program=$1
    shift
    "$linked/$waits_program" "$@" >out.txt 2>&1 || fail "$waits_program $*: $(cat out.txt)"
}

for program in thread_waits thread_waits_unoptimized; do
    waits "$program" 100
    waits "$program" 10 closed
    (export LIBPPROF="block:1,mutex:1,file=$work/%k.pb.gz" && waits "$program" 10) # waits behind the slow paths of hooks
done
echo ok
