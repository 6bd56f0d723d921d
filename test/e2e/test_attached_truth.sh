#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 1
#
# test_attached_truth.sh: the heap profile of a program that is attached to is the truth, at each rate: what threads from
# before have allocated, resized and freed since, as the program has counted it, and nothing of the blocks from before.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# A block of a site is in the profile with the probability p = 1 - exp(-size / rate), independently of all others, and
# counts 1 / p. So the number of n blocks has the variance n (1 - p) / p. Five standard errors: of 56 numbers one is
# further away in 30 000 runs, or in 3 000 where there are only a hundred samples. At rate 1 all is exact.
compare() { # RATE WHAT SITE SIZE TRUTH FOUND_BLOCKS FOUND_BYTES
    awk -v rate="$1" -v size="$4" -v n="$5" -v blocks="$6" -v bytes="$7" 'BEGIN {
        p = rate == 1 ? 1 : 1 - exp(-size / rate)
        limit = 5 * sqrt(n * (1 - p) / p) + (p < 1 && n > 0) # and a rounding
        off = blocks - n
        off_bytes = bytes / size - n
        exit !(off <= limit && -off <= limit && off_bytes <= limit && -off_bytes <= limit)
    }' || fail "rate $1, $3, $2: expected $5 blocks of $4 bytes, found $6 blocks and $7 bytes"
}

# check RATE: the profile against the numbers of the program, in truth.
check() {
    "$cpprof" configure "$guest" >status || fail "no answer"
    expect_equal "what is on" "on heap:$1" "$(grep '^on' status)"
    "$cpprof" convert -o heap.pb.gz "pid:$guest/heap" >convert.out 2>&1 || fail "no profile: $(cat convert.out)"
    raw heap.pb.gz
    while read -r site size allocated in_use; do
        found=$(blocks_of heap.pb.gz.raw "$site" work)
        compare "$1" allocated "$site" "$size" "$allocated" "$(field 1 "$found")" "$(field 2 "$found")"
        compare "$1" "in use" "$site" "$size" "$in_use" "$(field 3 "$found")" "$(field 4 "$found")"
    done <truth
    expect_equal "blocks from before at rate $1" "0 0 0 0" "$(blocks_of heap.pb.gz.raw keep_old)"
}

for rate in 1 4096 524288; do
    guest "$victims/attached_heap"
    wait_until has_line guest.out ready
    ! grep -q 'libpprof[^/]*[.]so' "/proc/$guest/maps" || fail "the program has begun with the library"
    "$cpprof" configure "$guest" heap:$rate >status || fail "cannot attach at rate $rate"
    for round in 1 2; do
        : >guest.out
        echo "round $round" >&9
        wait_until has_line guest.out end
        sed '/^end$/d; /^ready$/d' guest.out | tr -d '\0' >truth
        expect_equal "sites" 7 "$(wc -l <truth)"
        check $rate
    done
    "$cpprof" configure "$guest" detach >status || fail "no detach at rate $rate"
    ends_with 7 "$guest" "of the program at rate $rate"
done
echo ok
