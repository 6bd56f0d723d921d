#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_http_wall.sh: wall-clock profiles by HTTP: only while asked for; requests share the looks, and each gets its own
# time; a client that hangs up ends its collection. What was counted so far, and the file, have the same beginning, and
# nothing of a CPU profile that runs already.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

timers() { grep -c '^ID:' "/proc/$server/timers"; }
has_timers() { [ "$(timers)" -gt 0 ]; }
has_no_timers() { [ "$(timers)" = 0 ]; }
# per_thread RAW: the time of all threads over the duration of the profile.
per_thread() {
    awk '/^Duration: / { duration = $2 } /^Samples:/ { part = 1; next } /^Locations/ { part = 2 }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { sub(/:/, "", $2); sum += $2 }
        END { printf "%.2f\n", sum / 1e9 / duration }' "$1"
}

time_of() { sed -n 's/^Time: //p' "$1.pb.gz.raw"; }

serve_guest ''
threads=$(ls "/proc/$server/task" | wc -l)
expect_equal "what was counted so far, before anything is" 404 "$(status_of '/wall?now=1')"
for seconds in 1 3; do
    python3 "$ask" "$url/wall?seconds=$seconds" -o "w$seconds.pb.gz" >/dev/null 9>&- &
    eval "request_$seconds=$!"
done
wait_until has_timers
python3 "$ask" "$url/profile?seconds=1" -o cpu.pb.gz >/dev/null 9>&-
# shellcheck disable=SC2154 # set by eval
wait "$request_1" "$request_3"
wait_until has_no_timers
for file in w1 w3; do
    raw "$file.pb.gz"
    # One of the process's threads is the server's, which no profile shows. Time that the hog waits for a processor is counted
    # when it has one again.
    expect_near "$file: threads of the profile" "$((threads - 1))" "$(per_thread "$file.pb.gz.raw")" 0.4
    stacks "$file.pb.gz.raw" >stacks
    ! grep -q 'server_run\|pprof_http\|pp_' stacks || fail "$file: libpprof is in it: $(cat stacks)"
done
raw cpu.pb.gz
expect_equal "a CPU profile meanwhile" "cpu nanoseconds" "$(sed -n 's/^PeriodType: //p' cpu.pb.gz.raw)"

python3 "$ask" "$url/wall?seconds=100" -o never.pb.gz >/dev/null 9>&- &
hanging=$!
wait_until has_timers
expect_equal "what was counted so far" 200 "$(status_of '/wall?now=1')"
for file in so_far so_far_again; do
    python3 "$ask" "$url/wall?now=1" -o $file.pb.gz >/dev/null 9>&-
    raw $file.pb.gz
    duration=$("$BUILD/bin/cpprof" top --json $file.pb.gz | sed 's/.*"duration_nanos":\([0-9]*\).*/\1/')
    [ "$duration" -lt 300000000000 ] || fail "the duration of what was counted so far: $duration ns"
done
expect_equal "the time from which on was counted, twice" "$(time_of so_far)" "$(time_of so_far_again)"
case $(time_of so_far) in "$(date -u +%Y)"*) ;; *) fail "the time from which on was counted: $(time_of so_far)" ;; esac
expect_equal "a rate of 5000 beside another one" 400 "$(status_of '/wall?hz=5000&seconds=1')"
kill "$hanging"
wait_until has_no_timers
expect_equal "a rate of 5000" 400 "$(status_of '/wall?hz=5000&seconds=1')"
for query in 'hz=x' 'hz=0' 'hz=-5' 'hz=99999999999999999999'; do
    for name in wall profile; do
        expect_equal "$name?$query" 400 "$(status_of "/$name?$query&seconds=1")"
    done
done
expect_equal "no rate" 200 "$(status_of '/wall?hz=&seconds=1')"
# As the other profiles of ours without a text; Go's ignores it.
expect_equal "a text" 400 "$(status_of '/wall?debug=1&seconds=1')"
expect_equal "a text of the CPU profile" 200 "$(status_of '/profile?debug=1&seconds=1')"
end_guest

# ---- a CPU profile runs before, and a request before the file ----
serve_guest "control,cpu,file=$work/last.%k.pb.gz"
has_worked() {
    get worked.pb.gz '/profile?now=1'
    raw worked.pb.gz
    [ "$(weight worked.pb.gz.raw)" -ge 300 ] # 3 s
}
wait_until has_worked
python3 "$ask" "$url/wall?seconds=100" -o never.pb.gz >/dev/null 9>&- &
is_counted() { [ "$(status_of '/wall?now=1')" = 200 ]; }
wait_until is_counted
expect_equal "a request beside it" 200 "$(status_of '/wall?seconds=2')"
get beside.pb.gz '/wall?now=1'
raw beside.pb.gz
expect_near "threads of the profile beside the CPU profile" "$((threads - 1))" "$(per_thread beside.pb.gz.raw)" 0.4
"$BUILD/bin/cpprof" configure "$server" wall >/dev/null
end_guest
raw last.wall.pb.gz
expect_equal "the beginning of the file" "$(time_of beside)" "$(time_of last.wall)"
expect_near "threads of the file" "$((threads - 1))" "$(per_thread last.wall.pb.gz.raw)" 0.4
echo ok
