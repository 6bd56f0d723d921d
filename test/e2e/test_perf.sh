#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
#
# test_perf.sh: the engine `perf`: the totals of 4 threads at 10 kHz, of short threads and of the
# kernel; no write cut short; a host that closes, fills or runs out of descriptors; refusals.
# shellcheck disable=SC3045 # ulimit: dash and bash have -n
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

guest=$victims/perf_guest

# perf FILE COMMAND...: the command's profile by the engine at 10 kHz.
perf() {
    perf_file=$1
    shift
    preload "cpu:10000,engine=perf,file=$perf_file" "$@"
}
spent() { awk -v name="$1" '$1 == name { print 10 * $2 }' spent; }
# A main thread that only waits may end without a sample for its first millisecond to be settled on.
not_lost() {
    expect_near "weight of lost samples in $1" 0 "$(weight_with "$1" pprof_lost_samples)" 20
}

perf "$work/threads.pb.gz" "$guest" threads >spent
raw threads.pb.gz
comments threads.pb.gz.raw >comments
grep -q 'engine perf was refused to [0-9]* threads' comments && skip "$(cat comments)"
expect_contains "comments" comments "perf engine; of "
expect_near "weight of 4 threads" "$(spent process)" "$(weight threads.pb.gz.raw)" \
    "$(percent "$(spent process)" 1.5)"
not_lost threads.pb.gz.raw
# Samples come faster than any tick: most of them stand for one period, not for the 10 or 40 of a tick.
samples=$(sed -n 's/.*perf engine; of \([0-9]*\) samples.*/\1/p' comments)
expect_at_least "weight of samples taken" "$(percent "$(spent process)" 95)" "$samples"

# Time in the kernel counts for who asked for it, though no event strikes there.
perf "$work/kernel.pb.gz" "$guest" kernel >spent
raw kernel.pb.gz
expect_near "weight of stay_in_kernel" "$(spent process)" \
    "$(weight_with kernel.pb.gz.raw stay_in_kernel)" "$(percent "$(spent process)" 4)"

# 3 ms each.
perf "$work/storm.pb.gz" "$victims/thread_storm" 200 >spent
raw storm.pb.gz
expect_near "weight of short_entry" "$(spent short_entry)" \
    "$(weight_with storm.pb.gz.raw short_entry)" "$(percent "$(spent short_entry)" 5)"
not_lost storm.pb.gz.raw

# What is lost is counted.
perf "$work/deaf.pb.gz" "$guest" deaf >spent
raw deaf.pb.gz
expect_near "weight of a thread that blocks SIGPROF" "$(spent process)" "$(weight deaf.pb.gz.raw)" \
    "$(percent "$(spent process)" 2)"
expect_at_least "weight of its lost samples" 2500 "$(weight_with deaf.pb.gz.raw pprof_lost_samples)"

# Writes, beside a run without signals.
"$guest" writes >plain
perf "$work/writes.pb.gz" "$guest" writes >profiled
diff plain profiled >&2 || fail "writes were disturbed"
raw writes.pb.gz
expect_at_least "weight of the writer" 100 "$(weight_with writes.pb.gz.raw writes)"
(cd "$work" && "$victims/interruptions") >plain || skip "it fails here even without the library"
perf "$work/calls.pb.gz" "$victims/interruptions" >profiled || true
diff plain profiled >&2 || fail "system calls were disturbed"

# All descriptors are closed, and ours become files of the host: nobody touches those, and the timers
# go on. (The limit puts our numbers within those that the host takes.)
(ulimit -n 4096 && perf "$work/closes.pb.gz" "$guest" closes) >spent
expect_equal "files" "3398 of 3398 files are still there, in the child too" "$(sed -n 1p spent)"
raw closes.pb.gz
for name in work_before work_after work_in_thread; do
    expect_near "weight of $name" "$(spent $name)" "$(weight_with closes.pb.gz.raw $name)" 200
done
comments closes.pb.gz.raw >comments
grep -Eq 'perf events? lost, the program closed (its descriptor|their descriptors)' comments || fail "no word of it: $(cat comments)"

# Threads of the library that have descriptors of their own come back, as any of them may have to close an event.
mkdir after
"$linked/perf_after_interval" "$work/after" >spent || fail "engine perf beside interval="
raw after/perf.pb.gz
comments after/perf.pb.gz.raw >comments
expect_contains "comments" comments "perf engine; of "
! grep 'perf was refused' comments >&2 || fail "engine perf was refused beside interval="
expect_near "weight beside interval=" "$(awk '{ print 10 * $1 }' spent)" "$(weight after/perf.pb.gz.raw)" 500

# ---- refusals ----

(ulimit -n 64 && perf "$work/crowded.pb.gz" "$guest" crowded) >spent
raw crowded.pb.gz
# Nothing could be opened to find names in.
too_many="Too many open files"
! is_musl "$library" || too_many="No file descriptors available" # as musl calls it
expect_near "weight of all that works without descriptors" "$(spent work_in_thread)" "$(weight crowded.pb.gz.raw)" 200
comments crowded.pb.gz.raw >comments
expect_contains "comments" comments \
    "engine perf was refused to 1 thread (perf_event_open: $too_many)"

# What the kernel says by itself: perf_event_paranoid refuses all, a lack of memory whoever asks.
if strace -o /dev/null -e trace=none true 2>/dev/null; then
    no_memory="Cannot allocate memory"
    ! is_musl "$library" || no_memory="Out of memory"
    for refusal in "EACCES Permission denied" "ENOMEM $no_memory"; do
        strace -f -o /dev/null -e trace=perf_event_open -e signal=none \
            -e inject=perf_event_open:error="${refusal%% *}" env LD_PRELOAD="$library" \
            LIBPPROF="cpu:10000,engine=perf,file=$work/refused.pb.gz" "$guest" threads >spent
        raw refused.pb.gz
        comments refused.pb.gz.raw >comments
        expect_contains "comments" comments "libpprof: timer engine; of "
        expect_contains "comments" comments \
            "engine perf was refused to 5 threads (perf_event_open: ${refusal#* }), they were sampled by timers"
        expect_near "weight of 4 threads" "$(spent process)" "$(weight refused.pb.gz.raw)" \
            "$(percent "$(spent process)" 1.5)"
    done
fi

# Nobody in particular, without a byte of locked memory.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null &&
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
    chmod 777 .
    setpriv --reuid=424243 --regid=424243 --clear-groups prlimit --memlock=0 env \
        LD_PRELOAD="$(for_everybody "$library")" LIBPPROF="cpu:10000,engine=perf,file=$work/nobody.pb.gz" \
        "$(for_everybody "$guest")" threads >spent
    raw nobody.pb.gz
    comments nobody.pb.gz.raw >comments
    expect_contains "comments" comments "libpprof: perf engine; of "
    ! grep refused comments >&2 || fail "engine perf was refused without locked memory"
    expect_near "weight of 4 threads" "$(spent process)" "$(weight nobody.pb.gz.raw)" \
        "$(percent "$(spent process)" 1.5)"
fi

for how in refuse kill; do
    for call in perf_event_open ioctl; do
        "$victims/confined" before $how $call -- "$guest" kernel >/dev/null 2>&1 || continue
        timeout -s KILL 60 "$victims/confined" before $how $call -- env LD_PRELOAD="$library" \
            LIBPPROF="cpu:10000,engine=perf,file=$work/$how.$call.pb.gz" "$guest" kernel >/dev/null ||
            fail "status $? under a filter that does $how $call"
        raw $how.$call.pb.gz
        comments $how.$call.pb.gz.raw >comments
        expect_contains "comments" comments "libpprof: timer engine; of "
        expect_contains "comments" comments "engine perf was refused to 1 thread (perf_event_open: "
        expect_at_least "weight" 4900 "$(weight $how.$call.pb.gz.raw)"
    done
done

# ---- exec ----

# An event's signal that is pending must not wait for the program that is executed. One that no hook
# can take back is known for what it is, if the library is in that program too.
execveat=execveat
! is_musl "$library" || execveat= # it has no such function
for way in execve execv execvp execvpe execl execlp execle fexecve $execveat; do
    expect_equal "status after $way" 42 "$(status perf "$work/exec.pb.gz" "$guest" $way)"
done
expect_equal "status after a system call" 42 \
    "$(status perf "$work/exec.pb.gz,subprocesses" "$guest" syscall)"

# ---- children ----

preload "cpu:10000,engine=perf,subprocesses,file=$work/child.%e.%p.pb.gz" \
    sh -c "'$guest' deaf >/dev/null & '$guest' kernel >/dev/null; wait; exec env -u LD_PRELOAD ls -l /proc/self/fd" >inherited
! grep -q perf_event inherited || fail "a program that was executed has our descriptors: $(cat inherited)"
found=0
for file in child.*.pb.gz; do
    raw "$file"
    ! has_text "$file.raw" "perf engine; of" || found=$((found + 1))
done
expect_at_least "profiles of children by the engine" 2 "$found"
echo ok
