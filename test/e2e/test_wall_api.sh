#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_wall_api.sh: wall-clock profiles that a program starts and stops: each has its own time, also beside a profile of
# the option `wall`, which has all.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# check RAW FIRST_MS SECOND_MS PERCENT: of what a nap took, a part may be the wait for a processor after it. At most PERCENT
# more is said: where the thread was in another wait as well between two looks, it is an estimate.
check() {
    for nap in "first_nap $2" "second_nap $3"; do
        most=${nap#* }
        ms=$(($(wall_us "$1" "${nap% *}" sleep) / 1000))
        [ "$ms" -ge $((most / 2)) ] && [ "$ms" -le $((most + most * $4 / 100)) ] ||
            fail "$1: ${nap% *}: slept $ms ms of $most"
    done
}

for option in '' "wall,file=$work/option.pb.gz"; do
    LIBPPROF=$option "$linked/wall_api" "$work" >said 2>errors || fail "with '$option': $(cat errors)"
    read -r _ first_ns second_ns <said
    raw first
    raw second
    check first.raw $((first_ns / 1000000)) 0 5
    check second.raw 0 $((second_ns / 1000000)) 5
done
raw option.pb.gz
check option.pb.gz.raw $((first_ns / 1000000)) $((second_ns / 1000000)) 100
echo ok
