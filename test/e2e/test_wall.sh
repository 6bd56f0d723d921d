#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_wall.sh: the wall-clock profile has all the time of all threads, in the right states, on the functions
# where it passed.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc

truth() { awk -v name="$1" '$1 == name { print $2 }' truth; }

# run NAME ARGUMENT...: runs the victim.
run() {
    name=$1
    shift
    preload "wall,file=$work/$name.pb.gz" "$victims/wall" "$@" >truth || fail "the victim failed: $*"
    raw "$name.pb.gz"
    profile=$name.pb.gz.raw
}

# expect_all NAME FUNCTION: the threads that began there have their time, to a percent. What they never were
# seen waiting has no stack.
expect_all() {
    total=$(($(wall_us "$profile" "$2") + $(wall_us "$profile" pprof_unseen_waits)))
    expect_near "$1: time of all threads" "$(truth all)" "$total" "$(percent "$(truth all)" 1)"
}

# Each function has the time that it took, within three standard errors of so many looks: 20 a second, three
# threads. Threads of other programs may take the processors away meanwhile: such time may be shown where
# the thread runs next.
expect_share_of_time() { # NAME
    expect_near "$1" "$(truth "$1")" "$(wall_us "$profile" "$1")" "$(awk -v all="$(truth all)" -v part="$(truth "$1")" \
        -v looks=360 'BEGIN { p = part / all; print 3 * all * sqrt(p * (1 - p) / looks) }')"
}
check() {
    run shares 3 6000 10000
    expect_all shares wall_worker
    for function in wall_reader wall_locker wall_sleeper wall_hog_long wall_hog_short; do
        expect_share_of_time "$function"
    done
}
attempts 4 check
profile=shares.pb.gz.raw
grep -q '^PeriodType: wall nanoseconds' "$profile" || fail "the type of the period: $(grep '^PeriodType' "$profile")"
expect_near "time of the first thread, which joins the others" "$(($(truth all) / 3))" \
    "$(wall_us "$profile" main lock)" "$(percent "$(truth all)" 1)"
for wait in wall_reader:io wall_locker:lock wall_sleeper:sleep; do
    function=${wait%:*}
    expect_at_least "$function, in no other state than ${wait#*:}, preempted or running" \
        "$(($(wall_us "$profile" "$function") - 3))" \
        "$(($(wall_us "$profile" "$function" "${wait#*:}") + $(wall_us "$profile" "$function" preempted) + \
            $(wall_us "$profile" "$function" running)))"
    for other in io lock sleep net poll child page other; do
        [ "$other" = "${wait#*:}" ] || expect_equal "$function in state $other" 0 "$(wall_us "$profile" "$function" "$other")"
    done
done

# A thread in each of many calls.
preload "wall,file=$work/states.pb.gz" "$victims/wall" states 1500 >states.said 2>states.err
[ ! -s states.err ] || fail "calls: $(cat states.err)"
raw states.pb.gz
for function in io_read io_write io_preadv2 io_vmsplice net_read net_recv poll_poll poll_epoll sleep_nanosleep child_waitpid \
    child_vfork lock_mutex other_sigsuspend; do
    expect_at_least "wall_in_$function, in this state" 1000000 "$(wall_us states.pb.gz.raw "wall_in_$function" "${function%%_*}")"
    for other in io lock sleep net poll child page other; do
        [ "$other" = "${function%%_*}" ] ||
            expect_equal "wall_in_$function in state $other" 0 "$(wall_us states.pb.gz.raw "wall_in_$function" "$other")"
    done
done

# A stop and what continues it make some calls begin again, by a call that says nothing of them. The library's thread has
# looked at all before.
env LD_PRELOAD="$library" LIBPPROF="wall,file=$work/stopped.pb.gz" "$victims/wall" states 4000 >stopped.said 2>&1 &
process=$!
started="$started $process"
has_looked() {
    [ "$(cat "/proc/$process"/task/*/syscall 2>/dev/null | grep -c '^[0-9]')" -ge 15 ] &&
        [ "$(grep -l '^libpprof' "/proc/$process"/task/*/comm | sed 's/comm$/status/' | xargs cat |
            sed -n 's/^voluntary_ctxt_switches:\t//p')" -gt 20 ]
}
wait_until has_looked
kill -STOP $process
kill -CONT $process
ends_with 0 $process
raw stopped.pb.gz
for function in poll_poll sleep_nanosleep; do
    expect_at_least "wall_in_$function, in this state" 2000000 "$(wall_us stopped.pb.gz.raw "wall_in_$function" "${function%%_*}")"
    expect_equal "wall_in_$function in state other" 0 "$(wall_us stopped.pb.gz.raw "wall_in_$function" other)"
done

# More threads than processors: what does not run is preempted, on the functions that wanted to run.
run crowd 24 2000 4000
expect_all crowd wall_worker
expect_at_least "preempted while they run" "$(percent "$(truth all)" 25)" \
    "$(($(wall_us "$profile" wall_hog_long preempted) + $(wall_us "$profile" wall_hog_short preempted)))"

# libc goes on as in a program of one thread.
"$victims/facts" 200 | grep single-threaded >plain.single
preload wall,file=single.pb.gz "$victims/facts" 200 | grep single-threaded >profiled.single
diff plain.single profiled.single >&2 || fail "libc takes the looker for a thread of the program"
# But it changes users with the program, and libc takes it for none again after that.
if [ "$(id -u)" = 0 ]; then
    need cc
    cat >users.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char __libc_single_threaded __attribute__((weak));
int main(void)
{
    if (setuid(65534) != 0)
        return 1;
    printf("single-threaded: %d\n", &__libc_single_threaded != NULL ? __libc_single_threaded : -1);
    fflush(stdout);
    return system("grep -hE '^(Uid|CapEff)' /proc/$PPID/task/*/status") != 0;
}
C
    cc -o users.bin users.c
    ./users.bin >plain.users
    preload wall,file=single.pb.gz ./users.bin >users
    expect_equal "users and capabilities of all threads" "CapEff: 0000000000000000 Uid: 65534 65534 65534 65534" \
        "$(grep -v single users | tr -s '\t' ' ' | sort -u | tr '\n' ' ' | sed 's/ $//')"
    expect_equal "whether libc takes the program for one of one thread, which has changed its user" \
        "$(grep single plain.users)" "$(grep single users)"
fi

# Threads that live for less than the time between two looks. What ran is known to three standard errors of the CPU
# sampler, which takes a sample in 10 ms.
run born born 200
total=$(($(wall_us "$profile" wall_born) + $(wall_us "$profile" pprof_unseen_waits)))
expect_at_least "threads of 3 ms: their time" "$(awk -v all="$(truth all)" -v running="$(truth running)" \
    'BEGIN { printf "%d\n", 0.99 * all - 3 * 10000 * sqrt(running / 10000) }')" "$total"
# While no thread runs, the looker rests after some looks, and still has all the time: 3 seconds would be 60 looks, 22 are due.
preload wall,file=idle.pb.gz sleep 3
raw idle.pb.gz
looks=$(sed -n 's/.*libpprof: \([0-9]*\) looks at all threads.*/\1/p' idle.pb.gz.raw)
[ "$looks" -gt 0 ] && [ "$looks" -lt 40 ] || fail "looks at a process that sleeps for 3 seconds: $looks"
expect_sleep() { # PROFILE
    expect_at_least "$1: the time of a process that sleeps for 3 seconds" 2990000 "$(wall_us "$1.raw" clock_nanosleep sleep)"
}
expect_sleep idle.pb.gz
# At its end a process waits for the library, on a busy machine until a look sees it.
hogs=
for hog in $(seq 12); do
    sh -c 'while kill -0 "$1"; do :; done' "hog $hog" $$ 2>hogs.err &
    hogs="$hogs $!"
done
sleeps=
for sleep in $(seq 16); do
    preload "wall,file=$work/sleep$sleep.pb.gz" sleep 3 &
    sleeps="$sleeps $!"
done
for process in $sleeps; do
    wait "$process" || fail "a process that sleeps beside others failed"
done
# shellcheck disable=SC2086 # a list
kill $hogs
for sleep in $(seq 16); do
    raw "sleep$sleep.pb.gz"
    expect_sleep "sleep$sleep.pb.gz"
done
# A program that has changed its user may not see where its threads wait. Its profile says so.
if [ "$(id -u)" = 0 ]; then
    cat >dropped.c <<'C'
#include <time.h>
#include <unistd.h>
int main(void)
{
    int failed = setuid(65534);
    for (int i = 0; failed == 0 && i < 10; i++) { /* the looker of before may still see the first */
        failed = nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return failed != 0;
}
C
    cc -w -O1 -o dropped dropped.c
    "$BUILD/bin/cpprof" record -e wall -o dropped.pb.gz -- ./dropped >/dev/null 2>dropped.err || fail "dropped: $(cat dropped.err)"
    raw dropped.pb.gz
    expect_contains "a program that has changed its user" dropped.pb.gz.raw "of waiting threads without a place"
fi
echo ok
