#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_thread_profile.sh: the profiles `thread` (`goroutine`) and `threadcreate`, in every form.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

threads=8 waiters=5
poll=__poll # glibc's own name
! is_musl "$library" || poll=poll
"$linked/thread_profile" "$work"

# ---- profile.proto ----

for name in thread goroutine threadcreate; do
    raw "$name.pb.gz"
    expect_equal "weight of $name" "$threads" "$(weight "$name.pb.gz.raw")"
    expect_contains "type of $name" "$name.pb.gz.raw" "$name/count"
done
expect_equal "threads in poll" "$waiters" "$(weight_with thread.pb.gz.raw waits_in_poll waiter)"
# with_kind RAW: the weight of samples that are labelled so
with_kind() {
    awk '/^ *[0-9]+: / { weight = $1 + 0 } /kind:\[waiter\]/ { sum += weight } END { print sum + 0 }' "$1"
}
expect_equal "labelled threads" "$waiters" "$(with_kind thread.pb.gz.raw)"
expect_equal "labels of creations" 0 "$(with_kind threadcreate.pb.gz.raw)"
expect_equal "poll is called" "$waiters" "$(weight_directly goroutine.pb.gz.raw $poll waits_in_poll waiter)"
expect_equal "the caller" 1 "$(weight_with thread.pb.gz.raw write_profile main)"
expect_equal "our own frames" 0 "$(weight_with thread.pb.gz.raw pprof_profile_write)"
expect_equal "who made the waiters" "$waiters" \
    "$(weight_directly threadcreate.pb.gz.raw pthread_create start starts_waiters main)"
expect_equal "the first thread" 1 "$(weight_with threadcreate.pb.gz.raw pprof_first_thread)"
# One that computes is listed at least by its start routine, if it got no processor to answer on.
expect_equal "the computing thread" 1 "$(weight_with thread.pb.gz.raw computer)"
expect_equal "the deaf thread" 1 "$(weight_with thread.pb.gz.raw deaf_computer)"

# ---- text ----

for name in thread goroutine threadcreate; do
    expect_contains "header of $name" "$name.txt" "$name profile: total $threads"
    go_pprof -raw "$name.txt" >"$name.txt.raw" 2>"$name.txt.err" ||
        fail "the text of $name is not readable: $(cat "$name.txt.err")"
    expect_equal "weight of the text of $name" "$threads" "$(weight "$name.txt.raw")"
done
expect_contains "threads in poll" thread.txt "$waiters @ 0x"
expect_contains "a symbol" thread.txt "	waits_in_poll+0x"
for name in thread goroutine; do
    expect_equal "labels in the text of $name" 1 "$(grep -cxF '# labels: {"kind":"waiter"}' "$name.txt")"
    expect_equal "what they belong to in $name" "$waiters" \
        "$(grep -xF -B 1 '# labels: {"kind":"waiter"}' "$name.txt" | awk 'NR == 1 { print $1 }')"
done
expect_equal "symbols in bare text" 0 "$(grep -c waits_in_poll bare.txt)"
expect_contains "before there was a second" before.txt "thread profile: total $((threads - 1))"

# ---- every stack in full ----

# blocks FILE NAME: how many stacks have a frame of that function
blocks() { awk -v RS= -v name="$2" 'index($0, "\n" name "(...)\n\t") { n++ } END { print n + 0 }' "$1"; }
for file in dump.txt all.txt; do # poll is ppoll where the kernel has no other
    expect_equal "threads in $file" "$threads" "$(grep -c '^thread [1-9][0-9]* "' "$file")"
    expect_equal "headers of waiters in $file" "$waiters" \
        "$(grep -cE '^thread [1-9][0-9]* "a waiter" \[p?poll\]:$' "$file")"
    expect_equal "waiters in $file" "$waiters" "$(blocks "$file" waits_in_poll)"
    # waiter is called by libc, which with glibc is called by libc: functions whose names not every libc has.
    expect_equal "roots in $file" "$waiters" "$(awk -v RS= -v FS='\n' '/waiter\(/ {
        for (i = 1; $i !~ /^waiter\(/; i++) continue
        i += 3; below = 0
        while ($i ~ /\/(libc|libpthread|ld-musl)[^\/]* [+]/) { below++; i += 2 }
        if (below > 0 && $(i - 1) ~ /^created by/) n++ }
        END { print n + 0 }' "$file")"
    expect_equal "creators in $file" $((threads - 1)) "$(grep -c '^created by start in thread [1-9]' "$file")"
    head -n 1 "$file" | grep -qE '^thread [1-9][0-9]* "first" \[running\]:$' ||
        fail "the caller is not the first in $file: $(head -n 1 "$file")"
done

# ---- the option ----

preload "thread,file=$work/end.pb.gz" sleep 0
raw end.pb.gz
expect_equal "threads at the end" 1 "$(weight end.pb.gz.raw)"
expect_equal "where the process ends" 1 "$(weight_with end.pb.gz.raw exit)"

# Our own frames are in no stack: neither those of a hook that waits nor those that write the profile.
expect_equal "status" 42 "$(status env LD_PRELOAD="$library" \
    LIBPPROF="block:1,thread,file=$work/waiting.%k.pb.gz" "$victims/ends_while_waiting")"
raw waiting.thread.pb.gz
# musl's loader has no part in the end. Its pthread_cond_wait jumps to another function; on aarch64 the hook's mark says what it
# has called. The function in which musl waits has no name there; on aarch64 one comes before it in the file whose end is not said.
end=loader wait=pthread_cond_wait nameless='futex|^[[]libc|^0x'
if is_musl "$library"; then
    end='exit'
    case $(uname -m) in
    aarch64) nameless="$nameless|^sigsetjmp" ;;
    *) wait=pthread_cond_timedwait ;;
    esac
fi
expect_equal "stacks" "$(printf '1 %s\n' $end $wait)" "$(
    stacks waiting.thread.pb.gz.raw | awk -F '\t' -v nameless="$nameless" '
        { for (i = 2; i <= NF; i++) if ($i !~ nameless) { print $1, $i ~ /^_dl_|^\[ld-/ ? "loader" : $i; break } }' |
        sort)"
expect_equal "who waits" 1 "$(stacks waiting.thread.pb.gz.raw | awk -F '\t' -v wait=$wait '
    { for (i = 2; i < NF; i++) n += $i == wait && $(i + 1) == "wait_for_ever" }
    END { print n }')"

# ---- threads that run answer, if they get a processor in time ----

# The second one blocks all signals, but ours was in use before, and stays open.
answers() {
    "$linked/thread_profile" "$work"
    expect_equal "stacks that are not whole" 0 "$(blocks dump.txt pprof_missing_frames)"
    expect_equal "threads that compute" 2 "$(blocks dump.txt computes)"
}
attempts 5 answers
echo ok
