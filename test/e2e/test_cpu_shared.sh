#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpu_shared.sh: cpu=shared records a CPU profile beside requests for others, which do not end it; its file has what
# all of them have seen, and more.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3 go

# samples_of FILE FUNCTION: the samples that have the function in their stack; time_of FILE: when it began.
raw() { go tool pprof -raw "$1" 2>go.err || fail "$(cat go.err)"; }
total_of() { go tool pprof -sample_index=samples -top "$1" 2>/dev/null | sed -n 's/.*of \([0-9]*\) total.*/\1/p'; }
time_of() { raw "$1" | sed -n 's/^Time: //p'; }

serve_guest "cpu:1000,cpu=shared,file=$work/%k.pb.gz"
get first.pb.gz "/profile?now=1"
get second.pb.gz "/profile?seconds=1"
get third.pb.gz "/profile?now=1"
raw second.pb.gz >second.txt
expect_contains "a request beside it" second.txt burn_cpu
expect_equal "one run of the sampler" "$(time_of first.pb.gz)" "$(time_of third.pb.gz)"
end_guest
expect_equal "the file's run" "$(time_of first.pb.gz)" "$(time_of cpu.pb.gz)"
third=$(total_of third.pb.gz)
all=$(total_of cpu.pb.gz)
[ "$third" -ge "$(total_of second.pb.gz)" ] || fail "$third samples since the start, fewer than in one request"
[ "$all" -ge "$third" ] || fail "the file has $all samples, a profile before had $third"
expect_equal "messages" "" "$(sed '/^libpprof: http:/d' server.err)"

# A signal that ends the program; a request that is under way does not keep the file from being written.
rm -f cpu.pb.gz
serve_guest "cpu:1000,cpu=shared,file=$work/%k.pb.gz"
python3 "$ask" "$url/profile?seconds=60" -o asked.pb.gz >asked.out 2>&1 &
asking=$!
started="$started $asking"
has_burnt() { get now.pb.gz "/profile?now=1" && [ "$(total_of now.pb.gz)" -gt 100 ]; }
wait_until has_burnt
kill -TERM "$server"
wait "$server" || true
wait "$asking" || true
[ "$(total_of cpu.pb.gz)" -ge "$(total_of now.pb.gz)" ] || fail "the file after SIGTERM has less than a profile before"

# It can be turned off, while others go on.
serve_guest "control=$work/control.sock,file=$work/off.%k.pb.gz"
control() { python3 "$ask" "unix:$work/control.sock:/control/configure" -d "$1" | sed -n 's/^on *//p'; }
expect_equal "on" cpu "$(control cpu=shared)"
expect_equal "on twice" cpu "$(control cpu=shared)"
expect_equal "off" "" "$(control cpu=off)"
[ -s off.cpu.pb.gz ] || fail "cpu=off has written no file"
expect_equal "the sampler has ended" 404 "$(status_of "/profile?now=1")"
end_guest
