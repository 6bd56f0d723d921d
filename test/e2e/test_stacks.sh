#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_stacks.sh: stacks that are full, foreign, crooked, or gone the next moment: the program ends as
# it does without us, by the same status or the same signal, and where it comes to its end there is a
# profile.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout prlimit

stacks=$victims/stacks

# Samples a second on a stack that is deeper than was allowed at the start, where each takes 880 system calls.
deep_rate=1000
[ "$(uname -m)" = x86_64 ] || deep_rate=100 # of an emulated machine

for way in $("$stacks"); do
    limits=
    rate=1000
    case $way in
    deep) # on a stack as large as the address space
        limits="prlimit --stack=unlimited"
        rate=$deep_rate
        $limits true 2>/dev/null || continue
        ;;
    raised-limit) rate=$deep_rate ;;
    esac
    plain=$(status $limits "$stacks" "$way" 2>"$way.plain.err")
    [ "$plain" != 77 ] || continue
    found=$(status timeout -s KILL 60 $limits env LIBPPROF="cpu:$rate,file=$work/$way.pb.gz" \
        LD_PRELOAD="$library" "$stacks" "$way" 2>"$way.err")
    expect_equal "status of $way" "$plain" "$found"
    expect_equal "messages of $way" "$(cat "$way.plain.err")" "$(cat "$way.err")"
    case $way in
    overflow-default | overflow-both)
        expect_equal "status of $way, which SIGSEGV ends" 139 "$found"
        ;;
    *)
        expect_equal "status of $way" 42 "$found"
        raw "$way.pb.gz"
        ;;
    esac
done

# What the handler of a full stack does is seen, and what is done on a stack that grew.
expect_share "handle_fault" 200 "$(weight_with overflow-handled.pb.gz.raw burn_ms handle_fault)"
expect_share "recurse_and_burn" 150 \
    $(($(weight_with raised-limit.pb.gz.raw burn_ms recurse_and_burn recurse_and_burn) * 1000 / deep_rate))
expect_share "recurse_and_burn on a stack that grows downwards" 150 \
    "$(weight_with grows-down.pb.gz.raw burn_ms recurse_and_burn burn_inside)"
echo ok
