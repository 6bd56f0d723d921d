#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_shares.sh: named functions have the share of the profile that the kernel's clocks give them, and
# what did not run does not appear.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

check() {
    record "$work/p.pb.gz" "$victims/shares" >spent || : >failed
    raw p.pb.gz
    profile=$work/p.pb.gz.raw
    total=$(awk '$1 == "process" { print $2 }' spent)
    for name in hog_sixty hog_forty hog_kernel; do
        ms=$(awk -v name="$name" '$1 == name { print $2 }' spent)
        expect_near "weight of $name" "$ms" "$(weight_with "$profile" "$name" main)" \
            "$(percent "$total" 5)"
    done
    # What it takes to go to sleep and to wake up, twice; or a tick that was late.
    expect_near "weight of sleeper" 0 "$(weight_with "$profile" sleeper)" 20
}
attempts 4 check
expect_no_file failed # no attempt may end badly
profile=$work/p.pb.gz.raw
total=$(awk '$1 == "process" { print $2 }' spent)
expect_equal "weight of never_called" 0 "$(weight_with "$profile" never_called)"
expect_near "weight of all samples" "$total" "$(weight "$profile")" "$(percent "$total" 5)"

# The value in nanoseconds is the count times the period.
go_pprof "$as_written" -raw p.pb.gz | awk '/^Samples:/ { part = 1 } /^Locations/ { part = 0 }
    part && /^ *[0-9]+ +[0-9]+:/ { sub(/:/, "", $2); if ($2 != $1 * 1000000) bad = 1 }
    END { exit bad }' || fail "a sample's time is not its count times the period"
grep -q '^Period: 1000000$' "$profile" || fail "the period is not 1 ms"
expect_equal "stacks that reach the program's entry" 100.00 "$(whole_percent "$profile")"
echo ok
