#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
# timeout: 900
#
# test_wall_guest.sh: programs do not notice that the wall-clock profile looks at them: no EINTR, no short read or
# write; hostile ones end as without it; a child of fork goes on with a profile of its own.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

if "$victims/interruptions" >plain; then
    preload "wall:1000,file=$work/p.pb.gz" "$victims/interruptions" >profiled || true
    diff plain profiled >&2 || fail "system calls were disturbed"
    raw p.pb.gz
fi

chmod 777 .
for way in close-all chdir undumpable environment title no-threads no-descriptors no-memory setuid chroot; do
    case $way in setuid | chroot) [ "$(id -u)" = 0 ] || continue ;; esac
    mkdir -m 777 $way
    cd $way
    plain=$(status "$victims/hostile" $way)
    if [ "$plain" != 77 ]; then
        find . -mindepth 1 -delete
        expect_equal "status of $way" "$plain" "$(status timeout -s KILL 60 env LD_PRELOAD="$library" \
            LIBPPROF="wall:200,file=$work/$way.pb.gz" "$victims/hostile" $way 2>"$work/$way.errors")"
    fi
    cd ..
done
for way in close-all chdir undumpable environment title no-threads; do
    raw $way.pb.gz
    [ "$(weight $way.pb.gz.raw)" -gt 0 ] || fail "$way: the profile is empty"
done

# A child that goes on has its own profile, and so has the program that it executes.
expect_equal "status with children" "$(status "$victims/children" fork 2>plain.errors)" \
    "$(status preload "wall:200,subprocesses,file=$work/child.%p.pb.gz" "$victims/children" fork 2>errors)"
expect_at_least "profiles of a program and its child" 2 "$(find . -name 'child.*.pb.gz' | wc -l)"

# Many threads, forks, execs, loads and unloads at once.
preload "wall:1000,file=$work/threads.pb.gz" "$victims/thread_storm" >/dev/null 2>errors || fail "storm: $(cat errors)"
echo ok
