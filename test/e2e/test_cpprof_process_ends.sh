#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_process_ends.sh: a process ends while `cpprof record -p` and `cpprof why` look at it: they say so, whatever is
# recorded, and however it was reached.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# says OF: what cpprof has said of the end, once.
says() {
    cpprof_status=0
    wait $cpprof_runs || cpprof_status=$?
    expect_equal "status $1: $(cat err)" 1 "$cpprof_status"
    expect_contains "$1" err "the process has ended"
    expect_equal "prefixes $1: $(cat err)" "" "$(grep 'pid:.*pid:' err || true)"
}

begin() {
    rm -f err
    guest "$@"
    wait_until is_guest
}
is_guest() { [ "$(cat "/proc/$guest/comm")" = web_guest ]; } # and no longer the shell that starts it

end_guest() {
    exec 9>&-
    wait "$guest" || true
}

is_attached() { [ -e err ] && grep -q "^cpprof: attached to process" err || { kill -0 "$cpprof_runs" 2>/dev/null || fail "cpprof: $(cat err)"; false; }; }
has_timers() { [ "$(grep -c '^ID:' "/proc/$guest/timers")" -gt 0 ]; }
listens() { "$cpprof" configure "$guest" >/dev/null 2>&1; }

for how in "$victims/web_guest" "$victims/web_guest threads"; do
    for kind in leak:1 lifetime cpu wall block heap thread; do
        # shellcheck disable=SC2086 # words
        begin $how
        "$cpprof" record -p $guest -e $kind -d 60 -o p.pb.gz >out 2>err 9>&- &
        cpprof_runs=$!
        started="$started $cpprof_runs"
        wait_until is_attached
        end_guest
        says "of $kind of $how"
        expect_no_file p.pb.gz
    done
    # shellcheck disable=SC2086 # words
    begin $how
    "$cpprof" why -p $guest -d 60 >out 2>err 9>&- &
    cpprof_runs=$!
    started="$started $cpprof_runs"
    wait_until has_timers
    end_guest
    says "of why of $how"
done

# Without an attachment.
for words in 'record -e cpu' 'record -e wall,thread' 'why'; do
    begin env LIBPPROF=control LD_PRELOAD="$library" "$victims/web_guest"
    wait_until listens
    # shellcheck disable=SC2086 # words
    "$cpprof" $words -p $guest -d 60 >out 2>err 9>&- &
    cpprof_runs=$!
    started="$started $cpprof_runs"
    wait_until has_timers
    end_guest
    says "of $words with a control socket"
done
echo ok
