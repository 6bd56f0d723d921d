#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 3
#
# test_attached_twice.sh: several cpprof attach to a process at the same moment, also one that has just been started: each
# of them gets what it asks for. Others come when the first have gone.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"

turn=0
while [ $turn -lt 10 ]; do
    turn=$((turn + 1))
    start
    rm -f ./*.pb.gz
    "$cpprof" record -p "$guest" -e heap:1 -d 1 -o one.pb.gz >one.out 2>&1 &
    one=$!
    "$cpprof" record -p "$guest" -e cpu,thread -d 1 -o two.pb.gz >two.out 2>&1 &
    two=$!
    "$cpprof" configure "$guest" block:1 >three.out 2>&1 || fail "the third one, turn $turn: $(cat three.out)"
    wait $two || fail "the second one, turn $turn: $(cat two.out)"
    wait $one || fail "the first one, turn $turn: $(cat one.out)"
    for file in one two.cpu two.thread; do
        [ -s "$file.pb.gz" ] || fail "no $file, turn $turn: $(cat one.out two.out)"
    done
    expect_equal "an answer, turn $turn" "joined" "$(tell threads)"
    end
done

# count_threads: what the library takes for the number of the program's threads.
count_threads() {
    answer "" >index
    sed -n "s|^<tr><td>\([0-9]*\)</td><td><a href='./thread?debug=1'>.*|\1|p" index
}

# The threads of an attachment are forgotten with it: a sampling handler would look for one that seems to be missing.
start
attach
expect_equal "threads of the program" 1 "$(count_threads)"
detach
for again in 2 3; do
    attach_again
    expect_equal "threads of the program, attachment $again" 1 "$(count_threads)"
    detach
done
end
echo ok
