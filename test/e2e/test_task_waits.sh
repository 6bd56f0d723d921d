#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_task_waits.sh: waits of tasks (<pprof_task.h>) in the profile `block`: their stacks, how long they were, their labels;
# those that go on; and not the turns that a task gives to others.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$linked/task_waits" "$work" >waited
read -r least most <waited

# delays FLAG...: contentions and nanoseconds of the samples that go tool pprof keeps
delays() {
    go_pprof "$as_written" -raw "$@" block.pb.gz 2>/dev/null | awk '
        /^Locations/ { exit }
        /^ *[0-9]+ +[0-9]+:/ { count += $1; sum += $2 }
        END { printf "%d %d\n", count, sum }'
}
raw block.pb.gz
waits=$(delays -focus=waits_for_answer)
expect_equal "waits for an answer" 3 "$(field 1 "$waits")"
expect_at_least "their nanoseconds" $((3 * least)) "$(field 2 "$waits")"
expect_at_least "what they can be at most" "$(field 2 "$waits")" $((3 * most))
expect_equal "their stacks" 3 "$(weight_directly block.pb.gz.raw fiber_wait waits_for_answer waiter fiber_begins)"
expect_equal "those with labels" "$waits" "$(delays -focus=waits_for_answer -tagfocus=kind=waiter)"
expect_equal "turns of others" 0 "$(weight_with block.pb.gz.raw lets_others_run)"
going_on=$(delays -focus=waits_on -tagfocus=state=waiting)
expect_equal "waits that go on" 1 "$(field 1 "$going_on")"
expect_at_least "the nanoseconds of these" "$least" "$(field 2 "$going_on")"
expect_equal "all waits that go on, of tasks" "$going_on" "$(delays -tagfocus=state=waiting)"
echo ok
