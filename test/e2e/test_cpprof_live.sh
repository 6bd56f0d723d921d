#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 1
#
# test_cpprof_live.sh: `cpprof top -p` where no terminal is: one table after the other of a process that runs. Its windows
# join, so that no sample is left out or counted twice; its views are the kinds of profiles; it ends with the process.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# start OPTIONS VICTIM: $guest is its process; "echo >&9" is a byte for it.
start() {
    guest env LIBPPROF="$1" LD_PRELOAD="$library" "$victims/$2"
    wait_until listens
}
listens() { "$cpprof" configure "$guest" >/dev/null 2>&1; }
end() {
    ends_with 7 "$guest"
    expect_equal "messages of the program" "" "$(cat guest.err)"
}

# tops STATUS WORDS...: cpprof top, into out and err.
tops() {
    tops_status=$1
    shift
    tops_found=0
    "$cpprof" top "$@" >out 2>err || tops_found=$?
    expect_equal "status of top $*: $(cat err)" "$tops_status" "$tops_found"
}

tables() { python3 "$SRC/test/e2e/live/totals.py" "$@" | sed 's/ .*//'; }
total() { python3 "$SRC/test/e2e/live/totals.py" "$@" | sed 's/.* //'; }
timers() { grep -c '^ID:' "/proc/$guest/timers"; }

# ---- all that is sampled is in one table

# work COUNT: so many bursts, after which the program waits.
work() {
    bursts_wanted=$((bursts + $1))
    while [ "$bursts" -lt "$bursts_wanted" ]; do
        bursts=$((bursts + 1))
        echo >&9
        has_worked() { [ "$(grep -c used guest.out)" = "$bursts" ]; }
        wait_until has_worked
    done
}

# counted: what the sampler has counted.
counted() {
    "$cpprof" top --json "pid:$guest/profile?now=1" >all.json
    total all.json
}

# adds_up OPTIONS: between two moments at which the program waits, the tables have what the sampler has counted, to the
# sample, and that is what the program has used, as exactly as a profile knows it.
adds_up() {
    start "$1" bursts
    bursts=0
    work 1 # after it no sample of the program's own beginning is late
    rm -f tables.json
    "$cpprof" top -p "$guest" -d 0.05 --json >tables.json 2>err 9>&- &
    watcher=$!
    started="$started $watcher"
    has_tables() { [ -e tables.json ] && [ "$(tables tables.json)" -ge "$1" ]; }
    wait_until has_tables 1
    counted_before=$(($(counted) - $(total tables.json))) # before the first table
    work 6
    # The program waits. What the sampler counts late is in a later table; what a table has left out, or has twice, is so for
    # ever.
    wait_until has_tables $(($(tables tables.json) + 2))
    adds_up_now() { [ $(($(counted) - counted_before)) = "$(total tables.json)" ]; }
    wait_until adds_up_now
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    expect_equal "complaints" "" "$(cat err)"
    used=$(awk 'NR > 1 { sum += $2 } END { print int(sum * 1e6) }' guest.out)
    expect_near "the sum of the tables, in ns" "$used" "$(total tables.json)" $((used / 10 + 80000000))
    expect_near "a function of 70 %" $((used * 7 / 10)) "$(total tables.json hog_seventy)" $((used / 10 + 80000000))
    end
}
adds_up control
adds_up control,cpu,file="$work/own.pb.gz" # which refuses requests for a time

# ---- views

start control,heap:1,block,mutex web_guest

# watch WORDS...: until out has $1, a line of it that begins with $2, and a second table.
watch() {
    watch_for=$1 watch_heading=$2
    shift 2
    rm -f out err # those of the last one
    "$cpprof" top -d 0.1 "$@" >out 2>err 9>&- &
    watcher=$!
    started="$started $watcher"
    wait_until is_shown
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    expect_equal "complaints of top $*" "" "$(cat err)"
}
is_shown() { [ -e out ] && grep -qF -- "$watch_for" out && [ "$(grep -c "^$watch_heading" out)" -ge 2 ]; }

while read -r view name heading; do
    watch "$name" "$heading" -p "$view"
done <<END
$guest burn_cpu cpu: the last
pid:$guest burn_cpu cpu: the last
pid:$guest/cpu burn_cpu cpu: the last
$guest/heap keep_memory heap in use: now
$guest/allocs drop_memory allocations: the last
$guest/block hold_lock block: the last
$guest/mutex hold_lock mutex: the last
$guest/thread main threads: now
$guest/wall burn_cpu wall: the last
END
watch "  burn_cpu" wall: -p "$guest" -e wall
grep -q '^state:.* running [0-9.]*%' out || fail "no line of states: $(cat out)"
watch "  burn_cpu" cpu: -p "$guest" --cum --focus burn_cpu
expect_contains "the process" out "$guest $victims/web_guest"
expect_contains "its load" out "threads 6, "
expect_contains "the filter" out "focus=burn_cpu: "
sed -n '/flat%/,$p' out | grep -q 'keep_memory' && fail "--focus burn_cpu shows keep_memory: $(cat out)"
watch "Nothing matches the filters." cpu: -p "$guest" --focus no_such_function
tops 0 -p "$guest" -d 0.1 --iterations 3 --sample alloc_objects --json
expect_equal "tables of a sample type" 3 "$(grep -c '"type":"alloc_objects"' out)"
tops 0 -p "$guest/thread" -d 0.1 --iterations 1 -n 1
expect_equal "rows with -n 1" 1 "$(sed '1,/flat%/d' out | wc -l)"

# Nobody holds the sampler after cpprof has ended.
has_no_timers() { [ "$(timers)" = 0 ]; }
wait_until has_no_timers
end

# A process that was started without the library loads it, for as long as it is watched.
guest "$victims/web_guest"
has_begun() { [ "$(cat "/proc/$guest/comm")" = web_guest ]; } # and is no shell any more
wait_until has_begun
watch burn_cpu "cpu: the last" -p "$guest"
has_no_socket() { [ ! -S "$work/run/pprof/$guest.sock" ]; }
wait_until has_no_socket
end

# What the process does not record is said, and how it would.
start control web_guest
tops 0 -p "$guest/mutex" -d 0.1 --iterations 1
expect_contains "a profile that is off" out "cpprof configure $guest mutex:1"
end

# A server is watched as well.
guest env LIBPPROF="http=unix:$work/http.sock" LD_PRELOAD="$library" "$victims/web_guest"
serves() { [ -S "$work/http.sock" ]; }
wait_until serves
watch burn_cpu "cpu: the last" -p "unix:$work/http.sock"
end

# ---- the end of the process

start control web_guest
rm -f out err
"$cpprof" top -p "$guest" -d 0.05 >out 2>err 9>&- &
watcher=$!
started="$started $watcher"
has_text_now() { [ -e out ] && grep -q "$1" out; }
wait_until has_text_now burn_cpu
end
watcher_status=0
wait "$watcher" || watcher_status=$?
expect_equal "status when the process has ended: $(cat err)" 0 "$watcher_status"
expect_equal "what is said then" "cpprof: top: process $guest has ended" "$(cat err)"

# ---- refusals

sleep 1000 &
stopped=$!
started="$started $stopped"
kill -STOP $stopped
wait_until grep -q '^State:.*stopped' "/proc/$stopped/status"
tops 1 -p $stopped
expect_contains "a process that cannot be attached to" err "process $stopped is stopped: let it go on"
tops 1 -p "$guest"
expect_contains "a process that has ended" err "pid:$guest: there is no such process"
tops 1 -p "unix:$work/nobody.sock" -d 0.1
expect_contains "a server that is not there" err "nobody listens"
tops 2 -p "http://127.0.0.1:1/debug/pprof/heap"
expect_contains "the address of one profile" err "expected the address of a server"
tops 2 -p $$/nothing
expect_contains "an unknown profile" err "expected one of the profiles"
tops 2 -p $$ --sample nothing
tops 2 -p $$/heap --sample delay
tops 2 -p x
tops 2 -p $$ -d 0
expect_contains "an interval" err "expected a number of seconds"
tops 2 -p $$ -d x
tops 2 -p $$ --iterations 0
tops 2 -p $$ profile.pb.gz
expect_contains "a process and a file" err "expected -p or FILE, found both"
tops 2 -p $$ --base profile.pb.gz
tops 2 -d 1 profile.pb.gz
expect_contains "an interval without a process" err "expected -p PID with -e, -d"
expect_equal "status of tree -p" 2 "$(status "$cpprof" tree -p $$ 2>err)"
expect_contains "tree -p" err "expected the verb top"
echo ok
