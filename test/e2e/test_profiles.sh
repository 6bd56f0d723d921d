#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_profiles.sh: the program's own profiles, from a program that is linked to the library, and to
# libpprof.a.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc

run_cases() { # PROGRAM
    for name in names registry values threads reentrant-writer failing-writer children; do
        [ "$(status timeout -s KILL 60 "$1" $name 2>errors | tail -n 1)" = 0 ] ||
            fail "$1 $name: $(cat errors)"
    done
    [ "$(status "$1" stacks conn.pb.gz 2>errors)" = 0 ] || fail "$1 stacks: $(cat errors)"
    raw conn.pb.gz
    expect_equal "type" "example.conn/count" "$(sed -n '/^Samples:/ { n; p; }' conn.pb.gz.raw)"
    expect_equal "total" 61 "$(weight conn.pb.gz.raw)"
    # The leaf is the caller of add, with skip its caller.
    expect_equal "values at open_one" 30 "$(weight_with conn.pb.gz.raw open_one open_some stacks main)"
    expect_equal "values at open_some" 50 "$(weight_with conn.pb.gz.raw open_some stacks main)"
    expect_equal "values at no stack" 10 "$(weight_with conn.pb.gz.raw pprof_lost_profile_event)"
    # What was added and removed has left nothing.
    expect_equal "samples" "30 20 10 1" "$(stacks conn.pb.gz.raw | cut -f 1 | tr '\n' ' ' | sed 's/ $//')"
    expect_equal "frames of the deep stack" 128 \
        "$(stacks conn.pb.gz.raw | awk -F '\t' '$1 == 1 { print NF - 1 }')"
    rm conn.pb.gz conn.pb.gz.raw
}
run_cases "$linked/profiles"
[ "$(status timeout -s KILL 60 "$linked/profile_of_blocks" 2>errors)" = 0 ] ||
    fail "profile_of_blocks: $(cat errors)"

cc -g -O1 -fno-inline -fno-optimize-sibling-calls -pthread -I "$SRC/include" -D_GNU_SOURCE \
    -o profiles_static "$SRC/test/e2e/linked/profiles.c" \
    "$BUILD/lib/libpprof.a" -lz -ldl 2>cc.errors || fail "libpprof.a: $(cat cc.errors)"
run_cases "$work/profiles_static"
echo ok
