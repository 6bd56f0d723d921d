#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_first_thread.sh: `cpprof record` continues a command that is stopped after its first thread has ended.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

"$BUILD/bin/cpprof" record -o "$work/profile" "$victims/first_thread_gone" "$work/ready" >out 2>&1 &
recorder=$!
started=$recorder
wait_until has_text ready ' '
read -r process thread <ready
started="$recorder $process"
kill -STOP "$process"
is_stopped() { grep -q '^State:[[:space:]]*T' "/proc/$process/task/$thread/status"; }
wait_until is_stopped
grep -q '^State:[[:space:]]*Z' "/proc/$process/status" || fail "the first thread has not ended"
kill -CONT $recorder
wait_until is_over "$recorder"
ended=0
wait $recorder || ended=$?
expect_equal "status" 0 "$ended"
echo ok
