#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 3
#
# test_hostile.sh: programs that close all descriptors, change root, folder or user, overwrite their
# arguments and environment, run out of descriptors or memory: their status and their data are what
# they are without us, and the profile is written where that is possible.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# run_way WAY: in a folder of its own; the profile goes to profiles/WAY.pb.gz.
mkdir profiles
chmod 777 . profiles
run_way() {
    mkdir "$1"
    chmod 777 "$1"
    (
        cd "$1"
        plain=$(status "$victims/hostile" "$1")
        [ "$plain" != 77 ] || exit 0
        find . -mindepth 1 -delete
        found=$(status timeout -s KILL 60 env LD_PRELOAD="$library" \
            LIBPPROF="cpu:1000,file=${2:-$work/profiles/%e.$1.pb.gz}" \
            "$victims/hostile" "$1" 2>"$work/$1.errors")
        expect_equal "status of $1" "$plain" "$found"
    ) || exit 1
}
expect_complete() { # WAY
    raw "profiles/hostile.$1.pb.gz"
    for work_name in work_before work_after; do
        expect_share "$work_name with $1" 300 \
            "$(weight_with "profiles/hostile.$1.pb.gz.raw" $work_name main)"
    done
}
for way in close-all chdir undumpable environment title no-threads; do
    run_way $way
    expect_complete $way
    expect_equal "messages of $way" "" "$(cat $way.errors)"
done

# A relative path means the folder that the program was started in.
mkdir -p again
cd again
run_way chdir relative.pb.gz
cd ..
raw again/chdir/relative.pb.gz

# What was standard error is a data file now: it gets no message, not even where there is one to give.
run_way reuse-stderr "$work/no/such/folder/p.pb.gz"
[ -e reuse-stderr/data ] || fail "the program did not run"
expect_equal "the program's data file" "" "$(cat reuse-stderr/data)"

# Without descriptors or memory there may be no profile, but then there is a message.
for way in no-descriptors no-memory; do
    run_way $way
    if [ -e profiles/hostile.$way.pb.gz ]; then
        expect_complete $way
    else
        expect_contains "messages of $way" $way.errors "the cpu profile could not be " # written, or made
    fi
done

if [ "$(id -u)" = 0 ]; then
    run_way setuid
    expect_complete setuid
    run_way chroot
    [ -e profiles/hostile.chroot.pb.gz ] || expect_contains "messages of chroot" chroot.errors \
        "could not be written"
fi
echo ok
