#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 1
#
# test_cpprof_attach_transfers.sh: cpprof does not stop a thread in a call that would come back with a part of its work: it takes
# another thread, or waits for the end of the call, or says why it cannot attach.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof

expect_end() { # WHAT STATUS PROCESS
    ended=0
    wait "$3" || ended=$?
    expect_equal "status of $1" "$2" "$ended"
}

# begin HOW CALL: the program is in the middle of its call. Its process is in NAME.process, that of the other end in NAME.second.
begin() {
    name=$1.$2
    "$victims/transfers" "$1" "$2" >"$name.out" 2>&1 &
    echo $! >"$name.process"
    started="$started $!"
    wait_until has_line "$name.out" half
    sed -n 's/^second //p' "$name.out" >"$name.second"
    started="$started $(cat "$name.second")"
}

# end HOW CALL: the call is whole when the other end goes on.
end() {
    kill -USR1 "$(cat "$1.$2.second")" # once more does no harm
    wait_until has_line "$1.$2.out" whole
    kill -USR1 "$(cat "$1.$2.process")"
    expect_end "$1.$2" 7 "$(cat "$1.$2.process")"
    ! grep disturbed "$1.$2.out" || fail "$1.$2 was disturbed"
}

calls="write writev send sendmsg recv recvmsg recvmmsg sendfile splice"

# ---- another thread is taken ----

for call in $calls; do
    begin beside $call
    "$cpprof" configure "$(cat beside.$call.process)" log=/dev/null >log 2>&1 || fail "beside $call: $(cat log)"
    end beside $call
    rm beside.$call.*
done

# ---- there is no other: cpprof waits, and says so when it gives up. All at the same time ----

for call in $calls; do
    begin alone $call
    "$cpprof" configure "$(cat alone.$call.process)" log=/dev/null >alone.$call.log 2>&1 &
    echo $! >alone.$call.cpprof
    started="$started $!"
done
for call in $calls; do
    expect_end "cpprof at $call" 1 "$(cat alone.$call.cpprof)"
    expect_contains "cpprof at $call" alone.$call.log "which a stop would cut short"
    end alone $call
    rm alone.$call.*
done

# ---- the call ends, and then the thread is taken ----

# It has slept between its looks at the threads, or is over.
has_looked() { awk '/^voluntary_ctxt_switches/ { exit $2 < 20 }' "/proc/$1/status" 2>/dev/null || is_over "$1"; }

for call in $calls; do
    begin alone $call
    "$cpprof" configure "$(cat alone.$call.process)" log=/dev/null >log 2>&1 &
    attaching=$!
    wait_until has_looked $attaching
    kill -USR1 "$(cat alone.$call.second)"
    wait $attaching || grep -q 'no thread of process' log || fail "alone $call: $(cat log)"
    end alone $call
    rm alone.$call.*
done
echo ok
