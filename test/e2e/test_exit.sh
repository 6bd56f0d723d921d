#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_exit.sh: whichever way the program ends, its exit status is what it is without us, and the
# profile of what it did is there.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# A hang is a failure, not a time-out of the whole test.
end_status() { status timeout -s KILL 60 "$@" 2>/dev/null; }

for way in return exit _exit _Exit quick_exit thread after-main cancelled-exit cancelled-_exit \
    handler ignored last-thread; do
    plain=$(end_status "$victims/ends" $way)
    LIBPPROF=cpu:1000,file=$work/$way.pb.gz
    export LIBPPROF
    found=$(end_status env LD_PRELOAD="$library" "$victims/ends" $way)
    unset LIBPPROF
    expect_equal "exit status of $way" "$plain" "$found"
    raw $way.pb.gz
    expect_work "weight of last_work before $way" 200 "$(weight_with $way.pb.gz.raw last_work main)" 60
done

# The library does not see these ends; it must not be seen by them either.
for way in exit_group abort; do
    plain=$(end_status "$victims/ends" $way)
    LIBPPROF=cpu:1000,file=$work/$way.pb.gz
    export LIBPPROF
    found=$(end_status env LD_PRELOAD="$library" "$victims/ends" $way)
    unset LIBPPROF
    expect_equal "exit status of $way" "$plain" "$found"
    expect_no_file $way.pb.gz
done
for left in *.tmp.*; do
    [ ! -e "$left" ] || fail "a temporary file was left behind: $left"
done
echo ok
