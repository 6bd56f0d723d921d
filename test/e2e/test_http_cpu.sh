#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_http_cpu.sh: CPU profiles by HTTP. Requests of different lengths share one sampler, and each gets its own time; a
# client that hangs up ends its collection; a profile that the program runs itself is left alone.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

# duration RAW: in whole seconds.
duration() { sed -n 's/^Duration: \([0-9]*\).*/\1/p' "$1"; }

# timers: how many timers the process has, one for each thread that is sampled.
timers() { grep -c '^ID:' "/proc/$server/timers"; }
has_timers() { [ "$(timers)" -gt 0 ]; }
has_no_timers() { [ "$(timers)" = 0 ]; }

serve_guest ''
expect_equal "timers before" 0 "$(timers)"
expect_equal "what was counted so far, before anything is" 404 "$(status_of '/profile?now=1')"

# Three at a time, and one that begins when the others have.
for seconds in 1 2 4; do
    python3 "$ask" "$url/profile?seconds=$seconds&hz=1000" -o "p$seconds.pb.gz" >/dev/null 9>&- &
    eval "request_$seconds=$!"
done
wait_until has_timers
expect_equal "timers: one for each of the program's threads, none for libpprof's" 5 "$(timers)"
python3 "$ask" "$url/profile?seconds=1" -o late.pb.gz >/dev/null 9>&-
# shellcheck disable=SC2154 # set by eval
wait "$request_1" "$request_2" "$request_4"
wait_until has_no_timers
for file in p1 p2 p4 late; do
    raw "$file.pb.gz"
    [ "$(weight_with "$file.pb.gz.raw" burn_cpu burner)" -gt 0 ] || fail "$file: burn_cpu was not seen"
    stacks "$file.pb.gz.raw" >stacks
    ! grep -q 'server_run\|pprof_http\|pp_' stacks || fail "$file: libpprof is in it: $(cat stacks)"
done
# A longer request that began at the same time has at least what a shorter one has.
for pair in '1 2' '2 4'; do
    shorter=${pair% *} longer=${pair#* }
    [ "$(weight "p$longer.pb.gz.raw")" -ge "$(weight "p$shorter.pb.gz.raw")" ] || fail "$longer s have less than $shorter s"
    [ "$(duration "p$longer.pb.gz.raw")" -ge "$longer" ] || fail "duration of $longer s: $(duration "p$longer.pb.gz.raw")"
done
# All share the rate of the first.
expect_equal "rates" "cpu nanoseconds 1000000" "$(sed -n 's/^PeriodType: //p; s/^Period: //p' late.pb.gz.raw | tr '\n' ' ' | sed 's/ $//')"

# A client that hangs up, alone and beside another one.
hang_up() {
    python3 - "$url/profile?seconds=600" <<'PYTHON'
import os, socket, sys, time
host, _, path = sys.argv[1][len("http://"):].partition("/")
name, _, port = host.partition(":")
client = socket.create_connection((name, int(port)))
client.sendall(("GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, host)).encode())
while not os.path.exists("hang-up"):
    time.sleep(0.02)
client.close()
PYTHON
}
rm -f hang-up
hang_up >/dev/null 9>&- &
hanging=$!
wait_until has_timers
# What the sampler has counted so far is there at once; of two such profiles, the later one has all that the earlier one has.
has_counted() {
    get "$1" '/profile?now=1'
    raw "$1"
    [ "$(weight_with "$1.raw" burn_cpu burner)" -gt "${2:-0}" ]
}
wait_until has_counted so_far.pb.gz
wait_until has_counted further.pb.gz "$(weight_with so_far.pb.gz.raw burn_cpu burner)"
time_of() { sed -n 's/^Time: //p' "$1"; }
expect_equal "the time of what was counted so far" "$(time_of so_far.pb.gz.raw)" "$(time_of further.pb.gz.raw)"
go_pprof -top -base so_far.pb.gz further.pb.gz >difference 2>&1 || fail "so_far and further: $(cat difference)"
! grep -q ' -[0-9]' difference || fail "something was counted less often later: $(cat difference)"
touch hang-up
wait "$hanging"
wait_until has_no_timers
end_guest

# The program's own profile goes on, and the answer says why there is no other.
serve_guest "cpu,file=$work/own.pb.gz"
python3 "$ask" "$url/profile?seconds=1" >busy
expect_equal "status while a profile runs" 500 "$(sed -n 1p busy)"
expect_contains "the reason" busy "Could not enable CPU profiling: cpu profiling already in use"
wait_until has_timers
wait_until has_counted own_so_far.pb.gz
end_guest
raw own.pb.gz
[ "$(weight own.pb.gz.raw)" -ge "$(weight own_so_far.pb.gz.raw)" ] || fail "the program's own profile has less at its end"
[ "$(weight_with own.pb.gz.raw burn_cpu burner)" -gt 0 ] || fail "the program's own profile is empty"
echo ok
