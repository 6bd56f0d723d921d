#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
#
# test_seccomp.sh: under filters, in force before the start or installed by the program itself, the
# library may lose its profile, but never the program.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc

confined=$victims/confined
[ "$(status "$confined" before refuse readlink -- true)" = 0 ] || skip "no seccomp filters"

# musl's loader opens a library by other calls than a program makes that has only libc.
beside=
if is_musl "$library"; then
    echo '#include <unistd.h>
__attribute__((constructor)) static void here(void) { write(2, "loaded", 6); }' >nothing.c
    cc -shared -fPIC -o libnothing.so nothing.c
    beside=LD_PRELOAD=$work/libnothing.so
fi

run_confined() { # HOW CALL FILE
    status timeout -s KILL 60 "$confined" before "$1" "$2" -- env \
        LIBPPROF="cpu:1000,file=$3" LD_PRELOAD="$library" "$victims/ends" return 2>errors
}
# Every call that docs/SYSTEM_CALLS.md lists, and that the program can do without; not getpid and the like,
# which are harmless and made even without a profile. clone and wait4 are what
# the others are tried with: a filter that kills for these cannot be found out.
for call in timer_create timer_settime timer_delete process_vm_readv getdents64 sched_yield \
    readlink rename unlink getcwd rt_sigtimedwait poll fcntl clone wait4 tgkill nanosleep \
    clock_nanosleep newfstatat fstat; do
    for how in refuse kill; do
        case $how-$call in kill-clone | kill-wait4) continue ;; esac
        plain=$(status "$confined" before $how $call -- env ${beside:+"$beside"} "$victims/ends" return 2>plain.err)
        [ -z "$beside" ] || has_text plain.err loaded || plain="no library is loaded"
        if [ "$plain" = 42 ]; then
            expect_equal "status under a filter that does $how $call" 42 \
                "$(run_confined $how $call "$work/$how.$call.pb.gz")"
        fi
        # No profile is no secret.
        if [ "$plain" = 42 ] && [ ! -e $how.$call.pb.gz ]; then
            expect_contains "messages under a filter that does $how $call" errors libpprof
        fi
    done
done
# As before Linux 5.16, where what tries the calls has a copy of the memory.
echo 5.15.0 >osrelease
on_older() { # COMMAND...
    # shellcheck disable=SC2016
    unshare -rm sh -c 'mount --bind osrelease /proc/sys/kernel/osrelease && exec "$@"' - "$@"
}
if on_older true 2>/dev/null; then
    expect_equal "status on an older kernel" 42 "$(status on_older timeout -s KILL 60 "$confined" before kill \
        process_vm_readv -- env LIBPPROF="cpu:1000,file=$work/o.pb.gz" LD_PRELOAD="$library" "$victims/ends" return \
        2>errors)"
    raw o.pb.gz
    expect_work "weight of last_work on an older kernel" 200 "$(weight_with o.pb.gz.raw last_work main)" 25
fi
# Without these calls files are read on the program's own threads. One that kills leaves no trace of what was tried.
for call in close_range pidfd_open pidfd_getfd; do
    for how in refuse kill; do
        expect_equal "status under a filter that does $how $call" 42 \
            "$(run_confined $how $call "$work/$how.$call.pb.gz")"
        raw $how.$call.pb.gz
        expect_work "weight of last_work under a filter that does $how $call" 200 \
            "$(weight_with $how.$call.pb.gz.raw last_work main)" 25
    done
done
# What a profile is made of is not needed for every profile.
expect_equal "status" 42 "$(run_confined refuse process_vm_readv "$work/p.pb.gz")"
raw p.pb.gz
expect_work "weight of last_work" 200 "$(weight_with p.pb.gz.raw last_work main)" 25
run_confined refuse timer_create "$work/t.pb.gz" >/dev/null
expect_no_file t.pb.gz
expect_contains "messages without timer_create" errors seccomp

# A program that locks itself up: the profile ends before that, and holds what came before.
for way in prctl syscall listed terminated; do
    expected=42
    [ $way != terminated ] || expected=143
    expect_equal "status of $way without the library" $expected "$(status "$confined" during $way)"
    expect_equal "status of $way" $expected "$(status timeout -s KILL 60 env \
        LIBPPROF="cpu:1000,file=$work/$way.pb.gz" LD_PRELOAD="$library" \
        "$confined" during $way 2>errors)"
    raw $way.pb.gz
    expect_work "weight of work_before" 100 "$(weight_with $way.pb.gz.raw work_before main)" 25
    expect_contains "messages of $way" errors seccomp
done
echo ok
