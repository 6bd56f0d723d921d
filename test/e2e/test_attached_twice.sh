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

# gives_up WHO: what they have said, and whether the program lives.
gives_up() {
    guest_status=0
    ! is_over "$guest" || wait "$guest" || guest_status=$?
    fail "$1, turn $turn: $(cat one.out two.out three.out); the program's status (0: it lives) is $guest_status: $(cat guest.err)"
}

turn=0
while [ $turn -lt 10 ]; do
    turn=$((turn + 1))
    start
    rm -f ./*.pb.gz
    "$cpprof" record -p "$guest" -e heap:1 -d 1 -o one.pb.gz >one.out 2>&1 &
    one=$!
    "$cpprof" record -p "$guest" -e cpu,thread -d 1 -o two.pb.gz >two.out 2>&1 &
    two=$!
    "$cpprof" configure "$guest" block:1 >three.out 2>&1 || gives_up "the third one"
    wait $two || gives_up "the second one"
    wait $one || gives_up "the first one"
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
