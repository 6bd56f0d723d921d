#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_push_option.sh: the option push= sends what accumulates as differences, which add up to what the program's own
# profiles show; what is in use as it is; and the last profiles at the end of the process, however that comes.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"

has_lines() { # FILE COUNT
    [ "$(wc -l <"$1")" -ge "$2" ]
}
# push_guest OPTIONS HOW: starts the program.
push_guest() {
    guest preload "push=$url,$1" "$victims/push_work" "$2"
}
# The program waits two seconds for its thread that sends. Where that had no processor for so long, it says so.
no_time="there was no time to send the last profiles"
# works_once STATUS OPTIONS HOW: a program that works once and ends; again, if there was no time.
works_once() {
    while :; do
        rm -rf spool
        push_guest "$2" "$3"
        printf x >&9
        wait_until has_line guest.out worked
        ends_with "$1" "$guest"
        grep -q "$no_time" guest.err || break
    done
}

# send_rest: what a slow machine has not sent before the end is in the spool, also what the receiver has without an answer that came in
# time: that it refuses (409), and the sums are as they should be.
send_rest() {
    waits=$(find rest -type f 2>find.err | wc -l)
    "$cpprof" push --wait 60s --spool "$work/rest" "$url" 2>rest.err || grep -q "answers 409" rest.err || fail "the rest: $(cat rest.err)"
}

# What is sent adds up to the files of the same process.
receive pyroscope sums
push_guest "interval=200ms,cpu:1000,heap:1,block,mutex,thread,fd,wall,service=sums,push-spool=$work/rest,file=end.%k.pb.gz" return
for turn in 1 2 3 4 5; do
    printf x >&9
    wait_until has_lines guest.out "$turn"
    wait_until has_since sums goroutine "$(date +%s%N)"
done
ends_with 0 "$guest"
send_rest
expect_equal "what the receiver does not like" "there is no profile" "$(refused sums | sort -u)"
[ "$(sent_again sums)" -le "$waits" ] || fail "more is sent again than the $waits files that waited"
for type in alloc_objects alloc_space; do
    expect_equal "$type" "$(total $type end.heap.pb.gz)" "$(sent sums $type)"
done
for name in block mutex; do
    for type in contentions delay; do
        expect_equal "$name: $type" "$(total $type end.$name.pb.gz)" "$(sent sums $type $name)"
    done
done
expect_equal "in use" "$(total inuse_space end.heap.pb.gz)" "$(sent sums inuse_space memory last)"
# The program goes on between the last difference and the file.
sent=$(sent sums samples process_cpu) all=$(total samples end.cpu.pb.gz)
[ "$sent" -gt 0 ] && [ "$sent" -le "$all" ] && [ $((all - sent)) -le 200 ] || fail "cpu: $sent samples were sent of $all"
for name in block mutex goroutine fd wall; do
    has_received sums $name 1 || fail "no $name came"
done
for file in sums/*.pb; do
    "$cpprof" traces "$file" >>traces
done
! grep -q 'libpprof-push\|curl' traces || fail "the profiles have our thread: $(grep 'libpprof-push\|curl' traces)"
expect_equal "the service" sums "$(sent_label sums 3 service_name)"
! grep -v "$no_time" guest.err || fail "the program's stderr: $(cat guest.err)"
stop_receiver

# Of the allocations' other profiles that comes which is asked for; lifetimes as differences.
receive pyroscope others
push_guest "interval=200ms,lifetime:1,peak,service=others,push-spool=$work/rest,file=others.%k.pb.gz" return
for turn in 1 2 3; do
    printf x >&9
    wait_until has_lines guest.out "$turn"
    wait_until has_since others peak "$(date +%s%N)"
done
ends_with 0 "$guest"
send_rest
names=$(python3 -c 'import json
lines = [json.loads(line) for line in open("others/received.jsonl")]
print(*sorted({line["labels"]["__name__"] for line in lines if "totals" in line}))')
expect_equal "what came" "lifetime memory peak" "$names"
for type in freed_objects freed_space lifetime; do
    expect_equal "$type" "$(total $type others.lifetime.pb.gz)" "$(sent others $type lifetime)"
done
stop_receiver

# The last profiles come, and no file is written that nobody named.
for how in return _exit kill exec fork; do
    receive parca "$how"
    works_once "$([ $how = kill ] && echo 143 || echo 0)" "interval=1h,heap:1,subprocesses,push-spool=$work/rest" "$how"
    send_rest
    has_received "$how" memory 2 || fail "$how: the last profile did not come: $(cat guest.err)"
    expect_contains "$how: the service" "$how/received.jsonl" '"service_name": "push_work"'
    # The receiver takes no two times of a series that overlap: here those of the child and of its parent do.
    [ $how != fork ] || has_received fork memory 3 || fail "the child's profile did not come: $(cat guest.err)"
    for file in /tmp/push_work."$guest".*; do
        expect_no_file "$file"
    done
    stop_receiver
done

# The server is slow: the program ends all the same, and says what is lost. With a spool nothing is.
receive pyroscope slow
answer_next '{"times": 1000, "slow": 600}'
works_once 0 "interval=1h,heap:1,push-to=pyroscope" return
expect_contains "what is said" guest.err "2 profiles are lost"
stop_receiver
works_once 0 "interval=1h,heap:1,push-to=parca,push-spool=$work/spool" return
expect_equal "files of the spool" 2 "$(ls spool | wc -l)"
receive parca later
"$cpprof" push --spool spool "$url"
has_received later memory 2 || fail "the spool was not sent"
expect_equal "files of the spool" 0 "$(ls -A spool | wc -l)"
