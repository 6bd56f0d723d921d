#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_small_stacks.sh: a program that ends on a stack with little room ends as it does without us, and its profiles
# are whole: that of the threads has the function that ended it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

small=$victims/small_stacks
"$small" >pairs
while read -r stack way; do
    # shellcheck disable=SC2086 # one word each
    plain=$(status "$small" $stack $way 2>plain.err)
    [ "$plain" != 77 ] || continue
    # shellcheck disable=SC2086
    found=$(status timeout -s KILL 60 env LD_PRELOAD="$library" \
        LIBPPROF="follow-exec,cpu:1000,heap:1,block,mutex,fd,thread,file=$work/$stack.$way.%k.%s.pb.gz" \
        "$small" $stack $way 2>found.err)
    expect_equal "status of $way on $stack" "$plain" "$found"
    expect_equal "messages of $way on $stack" "$(cat plain.err)" "$(cat found.err)"
    # The first profile of a kind is that from before an exec.
    for kind in cpu heap block mutex fd thread; do
        set -- "$stack.$way.$kind".*.pb.gz
        [ -f "$1" ] || fail "$way on $stack: there is no profile of kind $kind"
        raw "$1"
        mv "$1.raw" "$kind.raw"
    done
    expect_at_least "samples of $way on $stack" 1 "$(weight_with cpu.raw burn_ms main)"
    expect_equal "threads that end the process by $way on $stack" 1 "$(weight_with thread.raw end_here)"
done <pairs
echo ok
