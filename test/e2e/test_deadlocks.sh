#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, musl's mutexes of the normal kind do not say who holds them
# timeout: 300
#
# test_deadlocks.sh: the library itself says which threads wait for each other's locks for ever, with their stacks, and
# which lock has a holder that has ended; a program whose threads only crowd has no deadlock.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3
ask=$SRC/test/e2e/control/ask.py

# start VICTIM: its control socket is $at.
start() {
    at=$work/$1.sock
    env LIBPPROF="control=$at" LD_PRELOAD="$library" "$victims/$1" >"$1.out" 2>"$1.err" &
    process=$!
    started="$started $process"
    wait_until has_line "$1.out" ready
}

# answer LINE FILE
answer() {
    python3 "$ask" "$at" "$1" >status.txt -o "$2" || fail "no answer to $1"
    expect_equal "status of $1" 200 "$(cat status.txt)"
}

# state_of FILE NAME: what stands in brackets, with N in the place of numbers.
state_of() {
    sed -n "s/^thread [0-9]* \"$2\" \[\(.*\)\]:\$/\1/p" "$1" | sed 's/0x[0-9a-f]*/ADDRESS/; s/thread [0-9]*/thread N/'
}

# stuck NAME...: all these threads wait for a lock by now.
stuck() {
    answer 'thread?debug=2' all.txt
    for name; do
        case $(state_of all.txt "$name") in *', '*) ;; *) return 1 ;; esac
    done
}

# is_in_futex NAME: it is there by now, whatever it waits for.
is_in_futex() {
    answer 'thread?debug=2' all.txt
    case $(state_of all.txt "$1") in futex*) ;; *) return 1 ;; esac
}

# circles FILE: of each circle the names of its threads, ordered.
circles() {
    awk '/^deadlock/ { number++ }
        /^\tthread/ && number { split($0, part, "\""); print number, part[2] }
        !/^\t/ && !/^deadlock/ { if (/^(lost|waiting)/) exit }' "$1" |
        sort | awk '{ line[$1] = line[$1] " " substr($0, length($1) + 2) } END { for (i in line) print substr(line[i], 2) }' | sort
}

# ---- threads of every kind ----

start deadlocks
wait_until is_in_futex native
wait_until stuck first second third 'robust 1' 'robust 2' joining joined reading writing 'timed 1' 'timed 2' inheritor stranger
answer 'thread?debug=2' all.txt
answer deadlock deadlock.txt

expected="first second third
joined joining
reading writing
robust 1 robust 2"
expect_equal "circles" "$expected" "$(circles deadlock.txt)"
expect_equal "circles after all stacks" "$expected" "$(circles all.txt)"
expect_contains "the ring" deadlock.txt 'deadlock: 3 threads wait for each other'
for name in first second third joining joined reading writing 'robust 1' 'robust 2'; do
    expect_equal "stacks of $name" 1 "$(grep -c "^thread [0-9]* \"$name\" \[futex, .*\]:\$" deadlock.txt)"
done
expect_equal "stacks" 9 "$(grep -c '^thread ' deadlock.txt)"
expect_equal "whole stacks" 9 "$(grep -c '^play(\.\.\.)$' deadlock.txt)"
expect_equal "first" 'futex, mutex ADDRESS held by thread N "second"' "$(state_of all.txt first)"
expect_equal "robust 1" 'futex, mutex ADDRESS held by thread N "robust 2"' "$(state_of all.txt 'robust 1')"
expect_equal "joining" 'futex, the end of thread N "joined"' "$(state_of all.txt joining)"
expect_equal "reading" 'futex, rwlock ADDRESS held by thread N "writing"' "$(state_of all.txt reading)"
expect_equal "timed 1" 'futex, mutex ADDRESS held by thread N "timed 2", with a time-out' "$(state_of all.txt 'timed 1')"
expect_equal "inheritor" 'futex, mutex ADDRESS held by thread N "deadlocks"' "$(state_of all.txt inheritor)"
expect_equal "stranger" 'futex, mutex ADDRESS held by thread N, which is not in this process' "$(state_of all.txt stranger)"
expect_equal "native" futex "$(state_of all.txt native)"
expect_equal "lost locks" 0 "$(grep -c '^lost' deadlock.txt)"
expect_contains "the timed ones" deadlock.txt 'waiting: threads wait for locks'
kill -KILL "$process"

# ---- locks whose holder has ended, and threads that wait for themselves ----

start dumped
wait_until stuck left right behind itself orphan reader joiner
answer deadlock deadlock.txt
expect_equal "circles" "itself
left right" "$(circles deadlock.txt)"
expect_contains "the lone one" deadlock.txt 'deadlock: a thread waits for itself'
expect_contains "the lost lock" deadlock.txt 'lost: a thread waits for a lock whose holder has ended'
expect_equal "orphan" 'futex, mutex ADDRESS held by thread N, which has ended' "$(state_of deadlock.txt orphan)"
kill -KILL "$process"

# ---- a crowd ----

start lock_crowd
for _ in $(seq 60); do
    answer deadlock deadlock.txt
    expect_equal "deadlocks of a crowd" 'no deadlock' "$(sed -n 1p deadlock.txt)"
done
echo ok
