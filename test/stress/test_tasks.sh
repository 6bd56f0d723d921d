#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_tasks.sh: tasks that four threads switch all the time are in each profile of threads exactly once, with their own
# stacks and labels; with the block profile, too, and while CPU samples are taken.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

looks=10
[ "${STRESS-}" != long ] || looks=4000
"$linked/task_storm" $looks
LIBPPROF="block:1,cpu:1000,file=$work/%k.pb.gz" "$linked/task_storm" $looks
[ -s block.pb.gz ] && [ -s cpu.pb.gz ] || fail "no profiles"
echo ok
