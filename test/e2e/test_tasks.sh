#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_tasks.sh: the tasks of a program's runtime (<pprof_task.h>) in the profile `thread`, in every form.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

readers=5 yielders=3 tasks=13
"$linked/tasks" "$work"

# ---- profile.proto ----

raw tasks.pb.gz
raw=tasks.pb.gz.raw
expect_equal "weight" $((tasks + 1)) "$(weight $raw)"
expect_equal "readers, and the child" $((readers + 1)) "$(weight_directly $raw fiber_wait wait_for_data reader fiber_begins)"
expect_equal "one that has never run" 1 \
    "$(($(weight_with $raw reader) - $(weight_with $raw wait_for_data reader)))"
expect_equal "yielders" $yielders "$(weight_directly $raw fiber_wait yielder fiber_begins)"
expect_equal "the parent" 1 "$(weight_directly $raw fiber_wait parent_body fiber_begins)"
expect_equal "frames without a stack" 1 "$(weight_directly $raw innermost middle outermost)"
expect_equal "a stack that is not its own" 1 "$(weight_with $raw make_others)"
expect_equal "tasks that hang on the thread" 1 "$(weight_with $raw main)"
expect_equal "stacks that lack frames" 0 "$(weight_with $raw pprof_missing_frames)"
expect_equal "tasks that run" 0 "$(weight_with $raw pprof_running_task)"
expect_equal "labelled tasks" $readers \
    "$(awk '/^ *[0-9]+: / { weight = $1 + 0 } /kind:\[reader\]/ { sum += weight } END { print sum + 0 }' $raw)"
raw threadcreate.pb.gz
expect_equal "creations of threads" 1 "$(weight threadcreate.pb.gz.raw)"

# ---- text ----

expect_contains "header" tasks.txt "thread profile: total $((tasks + 1))"
go_pprof -raw tasks.txt >tasks.txt.raw 2>tasks.err || fail "the text is not readable: $(cat tasks.err)"
expect_equal "weight of the text" $((tasks + 1)) "$(weight tasks.txt.raw)"
expect_contains "labels" tasks.txt '# labels: {"kind":"reader"}'
expect_contains "equal stacks are one row" tasks.txt "$readers @ 0x"

# ---- every stack in full ----

expect_equal "threads" 1 "$(grep -c '^thread ' dump.txt)"
expect_equal "tasks" $((tasks - 1)) "$(grep -cE '^task [1-9][0-9]*( "[a-z ]+")? \[[a-z ]+\]:$' dump.txt)"
expect_equal "the task with an odd name and an odd reason" 1 \
    "$(grep -cE '^task [1-9][0-9]* "odd\\n\\x1b\\"name\\"" \[odd\\r\\n\\x1b\[31m\\"reason\\" \\\\\]:$' dump.txt)"
expect_equal "numbers of tasks" $tasks "$(sed -n 's/^task \([0-9]*\) .*/\1/p' dump.txt | sort -u | wc -l)"
expect_equal "readers" $readers "$(grep -cE '^task [1-9][0-9]* "a reader" \[channel\]:$' dump.txt)"
expect_equal "those that wait for nothing" $((yielders + 1)) "$(grep -cE '^task .*\[runnable\]:$' dump.txt)"
expect_equal "without a name" $((yielders + 1)) "$(grep -cE '^task [1-9][0-9]* \[' dump.txt)"
# block NAME: the stack of the task of that name
block() { awk -v RS= -v name="\"$1\"" 'index($0, name " [")' dump.txt; }
expect_equal "the child's creator" "created by makes_child in task $(sed -n 's/^task \([0-9]*\) "parent".*/\1/p' dump.txt)" \
    "$(block child | grep '^created by')"
expect_equal "the parent's creator" "created by start in thread $(sed -n 's/^thread \([0-9]*\) .*/\1/p' dump.txt)" \
    "$(block parent | grep '^created by')"
expect_equal "functions of the child" "fiber_wait wait_for_data reader fiber_begins" \
    "$(block child | sed -n 's/^\([a-z_]*\)(\.\.\.)$/\1/p' | head -n 4 | tr '\n' ' ' | sed 's/ $//')"
expect_equal "functions of the fresh one" reader "$(block fresh | sed -n 's/^\([a-z_]*\)(\.\.\.)$/\1/p')"

# ---- after their end ----

expect_contains "after all have ended" after.txt "thread profile: total 1"
echo ok
