#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_dumps.sh: profiles of a program that goes on: the option `signal` writes what is there and starts and stops the CPU
# profile; the option `interval` writes everything again and again.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof

# start OPTIONS [WHAT]: a program that works until `end`.
start() {
    guest env LIBPPROF="$1" LD_PRELOAD="$library" "$victims/web_guest" ${2+"$2"}
}

end() {
    ends_with "${1:-7}" "$guest"
    expect_equal "messages" "" "$(cat guest.err)"
}

# has KIND COUNT: there are so many files of the kind, under their final names.
has() { [ "$(find . -maxdepth 1 -name "$1.*.pb.gz" | wc -l)" -ge "$2" ]; }

# shows FILE FUNCTION
shows() {
    "$cpprof" top --cum "$1" >top.txt || fail "$1 is no profile"
    expect_contains "$1" top.txt "$2"
}

newest() { find . -maxdepth 1 -name "$1.*.pb.gz" | sort -t . -k 3 -n | tail -1; }

# A signal: the heap profile each time, the CPU profile every second time.
caught() { grep -q '^SigCgt:.*[8-f]..$' "/proc/$guest/status"; }
start "cpu:1000,heap:1,thread,signal=USR2,file=$work/%k.%n.pb.gz"
wait_until caught
kill -USR2 "$guest"
wait_until has heap 1
wait_until has thread 1
expect_equal "CPU profiles after one signal" 0 "$(find . -name 'cpu.*' | wc -l)"
on_cpu() { "$cpprof" top --cum "$(newest cpu)" 2>/dev/null | grep -q burn_cpu; }
allocated() { "$cpprof" top --cum "$(newest heap)" 2>/dev/null | grep -q keep_memory; }
signalled() { kill -USR2 "$guest" && sleep 0.1 && has "$@" && allocated; }
kill -USR2 "$guest"
wait_until has cpu 1
wait_until has heap 2
shows "$(newest cpu)" "Type: cpu"
wait_until signalled cpu 2
end
has heap 3 || fail "no heap profile at the end"
rm -f -- *.pb.gz

# An interval: each kind, again and again.
start "cpu:1000,heap:1,interval=100ms,file=$work/%k.%n.pb.gz"
wait_until has cpu 3
wait_until has heap 3
wait_until on_cpu
shows "$(newest heap)" keep_memory
end
shows "$(newest cpu)" "Type: cpu"
! find . -name '*.tmp*' | grep . || fail "a temporary file is left"

# Without %n the newest profile is under the name.
start "heap:1,interval=100ms,file=$work/one.pb.gz"
wait_until test -s one.pb.gz
first=$(stat -c %i one.pb.gz)
is_another() { [ "$(stat -c %i one.pb.gz)" != "$first" ]; }
wait_until is_another
shows one.pb.gz keep_memory
end

# A program whose first thread has ended before the others ends with its last thread, and writes its profiles then.
rm -f -- *.pb.gz
start "heap:1,signal=USR2,interval=1h,file=$work/%k.%n.pb.gz" threads
wait_until caught
kill -USR2 "$guest"
wait_until has heap 1
end 0
has heap 2 || fail "no heap profile at the end"
