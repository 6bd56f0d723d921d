#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 200
#
# test_cpprof_record_remote.sh: `cpprof record -p PID` and `cpprof record URL` write the profiles of a process that runs
# already, each kind in a file of its own, and say what to do where that is not possible.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

guest env LIBPPROF="control,http=unix:$work/http.sock,heap:1,mutex,block" LD_PRELOAD="$library" "$victims/web_guest"
listens() { "$cpprof" configure "$guest" >/dev/null 2>&1; }
wait_until listens

# record STATUS WORDS...
record() {
    record_status=$1
    shift
    record_found=0
    "$cpprof" record "$@" >out 2>err || record_found=$?
    expect_equal "status of record $*: $(cat err)" "$record_status" "$record_found"
}

# type_of FILE: of its samples.
type_of() { "$cpprof" top --json "$1" | sed 's/.*"type":"\([^"]*\)".*/\1/'; }

# time_of FILE: of its moment, in nanoseconds.
time_of() { "$cpprof" top --json "$1" | sed 's/.*"time_nanos":\([0-9]*\).*/\1/'; }

for source in "-p $guest" "unix:$work/http.sock" "unix:$work/http.sock:/debug/pprof/"; do
    rm -f p.*
    # shellcheck disable=SC2086 # words
    record 0 -e cpu,heap,mutex,thread,threadcreate,wall:50 -d 1 -o p.pb.gz $source
    for kind in cpu heap mutex thread threadcreate wall; do
        expect_contains "what is said of $source" err "wrote p.$kind.pb.gz (1 process)"
    done
    expect_contains "the next command" err "cpprof top --cum p."
    expect_contains "the states of $source" err "By state:"
    ! grep -q 'By process:' err || fail "processes of $source: $(cat err)"
    expect_equal "types with $source" "cpu inuse_space delay thread threadcreate wall" \
        "$(for kind in cpu heap mutex thread threadcreate wall; do type_of p.$kind.pb.gz; done | tr '\n' ' ' | sed 's/ $//')"
    raw p.cpu.pb.gz
    expect_contains "the time of the CPU profile" p.cpu.pb.gz.raw "Duration: 1"
    raw p.wall.pb.gz
    expect_contains "the time of the wall-clock profile" p.wall.pb.gz.raw "Duration: 1"
    expect_contains "its rate" p.wall.pb.gz.raw "Period: 20000000"
    raw p.mutex.pb.gz
    expect_contains "the time of the mutex profile" p.mutex.pb.gz.raw "Duration: 1"

    # Lifetimes are of the time; what is of a moment is of its end.
    # shellcheck disable=SC2086 # words
    record 0 -e lifetime -d 1 -o p.pb.gz $source
    expect_equal "its type" freed_space "$(type_of p.pb.gz)"
    raw p.pb.gz
    expect_contains "the time of the lifetimes of $source" p.pb.gz.raw "Duration: 1"
    ! comments p.pb.gz.raw | grep 'in the last' || fail "two times of one profile"
    for kinds in heap,thread leak memory; do
        begin=$(date +%s%N)
        # shellcheck disable=SC2086 # words
        record 0 -e $kinds -d 1 -o "p.%k.pb.gz" $source
        for kind in $(echo $kinds | tr , ' '); do
            expect_at_least "the moment of $kind of $source" $((begin + 1000000000)) "$(time_of "p.$kind.pb.gz")"
        done
    done

    # Those that are made of the samples of heap have the rate of the process, whatever is asked for.
    for kind in leak lifetime memory; do
        # shellcheck disable=SC2086 # words
        record 0 -e $kind:4k -d 1 -o p.pb.gz $source
        expect_contains "the rate of $kind of $source" err "$kind: the process's own rate holds, heap:1; \`cpprof configure"
        # shellcheck disable=SC2086 # words
        record 0 -e $kind:1 -d 1 -o p.pb.gz $source
        ! grep 'own rate' err || fail "the same rate"
    done
done

# Without a kind it is the CPU profile; a rate is that of the request.
record 0 -d 1 -F 500 -o one.pb.gz -p $guest
raw one.pb.gz
expect_contains "the rate" one.pb.gz.raw "Period: 2000000"
record 0 -d 1 -e heap:4k -o rate.pb.gz -p $guest
raw rate.pb.gz
expect_contains "the rate of heap" rate.pb.gz.raw "Period: 4096"

# ---- refusals; the older file stays, and is named

record 1 -d 1 -e cpu,nothing -o p.pb.gz -p $guest
expect_contains "an unknown profile" err "pid:$guest/nothing"
expect_contains "the other one" err "wrote p.cpu.pb.gz"
cp one.pb.gz before
sleep 1000 &
stopped=$!
started="$started $stopped"
kill -STOP $stopped
wait_until grep -q '^State:.*stopped' "/proc/$stopped/status"
record 1 -d 1 -o one.pb.gz -p $stopped
expect_contains "a process that cannot be attached to" err "process $stopped is stopped: let it go on"
kill -KILL $stopped
expect_contains "an older file" err "one.pb.gz is from an earlier run and was not changed"
cmp one.pb.gz before || fail "the older file was changed"
record 1 -d 1 -o none.pb.gz "unix:$work/nobody.sock"
[ ! -e none.pb.gz ] || fail "a file was written of nothing"
record 2 -o p.pb.gz "unix:$work/http.sock:/debug/pprof/heap"
expect_contains "the address of one profile" err "expected the address of a server"
record 2 -p x
record 2 -p $guest true
record 2 -p $guest --subprocesses
record 2 -p $guest -o ''

ends_with 7 "$guest"
expect_equal "messages of the program" "" "$(cat guest.err)"
echo ok
