#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
#
# test_cpprof_attach_shared.sh: an attachment of several cpprof: one that comes a moment after another one was killed
# reaches the process; one that comes while another one records gets what it asks for, and leaves what it found; and what
# `cpprof configure` changes while another one records stays when that ends.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof

guest "$victims/disturbed" malloc nanosleep read
process=$guest
wait_until has_line guest.out ready

does() { "$cpprof" "$@" >out 2>err || fail "cpprof $*: $(cat err)"; }
is_on() { "$cpprof" configure "$process" >status 2>&1 && grep -qE "^on( .*)? $1( |\$)" status; }
is_attached() { "$cpprof" configure "$process" >status 2>&1; }
is_alone() { ! is_attached && grep -q 'no control socket' status; }

# record_behind NAME WORDS...: records meanwhile; its process is $recorder.
record_behind() {
    record_name=$1
    shift
    "$cpprof" record -p "$process" "$@" -o "$record_name.pb.gz" >"$record_name.log" 2>&1 &
    recorder=$!
    started="$started $recorder"
    wait_until has_text "$record_name.log" "attached to process"
}

# ---- a moment after a kill ----

turn=0
while [ $turn -lt 15 ]; do
    turn=$((turn + 1))
    record_behind killed -e cpu -d 60
    kill -KILL "$recorder"
    does record -p "$process" -e thread -d 1 -o after.pb.gz
    wait "$recorder" 2>/dev/null || true
    wait_until is_alone
done

# ---- beside another one ----

record_behind long -e cpu -d 60
does record -p "$process" -e heap -d 1 -o beside.pb.gz
raw beside.pb.gz
expect_contains "what is allocated meanwhile" beside.pb.gz.raw use_malloc
is_on 'heap:[0-9]*' && fail "heap is still on: $(cat status)"
is_attached || fail "the other one has lost its attachment: $(cat status)"
does configure "$process" heap:64k
does record -p "$process" -e heap -d 1 -o on.pb.gz
is_on heap:65536 || fail "a change was taken back: $(cat status)"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true

# ---- what `configure` has changed stays ----

is_on heap:65536 || fail "the change has ended with the recording: $(cat status)"
does configure "$process" detach
wait_until is_alone
record_behind short -e thread,heap -d 2
does configure "$process" mutex:1
wait "$recorder" || fail "record -p: $(cat short.log)"
is_on mutex:1 || fail "the change has ended with the recording: $(cat status)"
does configure "$process" detach
wait_until is_alone

ends_with 0 "$process"
! grep -q '^disturbed' guest.out || fail "disturbed: $(cat guest.out)"
echo ok
