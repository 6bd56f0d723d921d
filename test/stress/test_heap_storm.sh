#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 1200
# nightly: 3
#
# test_heap_storm.sh: eight threads allocate, resize and free each other's blocks, at rates of 512k, 4k
# and 1; and one that allocates blocks of one size for ever. Everything was freed: nothing is in
# use, exactly; what was allocated is what was allocated (exactly at rate 1); no sample is lost; the
# resident memory does not grow. 4 million blocks at each rate; STRESS=long: a thousand million at 512k
# and at 4k, a hundred million at 1, and as much churn.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

many=4000000
each_one=2000000
if [ "${STRESS-}" = long ]; then
    many=1000000000
    each_one=100000000
fi

totals() { # FILE: alloc_objects inuse_objects inuse_space of functions that are the victim's own
    go_pprof "$as_written" -raw "$1" | awk '
        /^Samples:/ { part = 1; next } /^Locations/ { part = 2 }
        part == 1 && /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+: / {
            sub(/:/, "", $4); n++; a[n] = $1; o[n] = $3; s[n] = $4; ids[n] = $0
        }
        part == 2 && $1 ~ /^[0-9]+:$/ && / (storm|allocate) / { id = $1; sub(/:/, "", id); ours[id] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                k = split(ids[i], list, " ")
                mine = 0
                for (j = 5; j <= k; j++) if (list[j] in ours) mine = 1
                if (mine) { A += a[i]; O += o[i]; S += s[i] }
            }
            printf "%d %d %d\n", A, O, S
        }'
}

# weather RATE HARMONIC COMMAND...: one storm; HARMONIC is the harmonic mean of the sizes: the variance of
# the estimate of N blocks is N RATE / HARMONIC.
weather() {
    rate=$1
    harmonic=$2
    shift 2
    preload "heap:$rate,file=$work/heap.pb.gz" "$victims/heap_storm" "$@" >said || fail "$*: $?"
    raw heap.pb.gz
    ! grep -q lost heap.pb.gz.raw || fail "samples were lost: $(grep lost heap.pb.gz.raw)"
    blocks=$(sed -n 's/blocks //p' said)
    grown=$(sed -n 's/grown //p' said)
    # shellcheck disable=SC2046 # three numbers
    set -- $(totals heap.pb.gz) "$@"
    echo "rate $rate: made $blocks, estimated $1, in use $2 ($3 bytes), grown $grown KiB"
    expect_equal "blocks in use at rate $rate" 0 "$2"
    expect_equal "bytes in use at rate $rate" 0 "$3"
    if [ "$rate" = 1 ]; then
        expect_equal "blocks at rate 1" "$blocks" "$1"
    else
        # Five standard deviations.
        expect_near "blocks at rate $rate" "$blocks" "$1" "$(awk -v n="$blocks" -v harmonic="$harmonic" \
            -v rate="${rate%k}" 'BEGIN { printf "%d", 5 * sqrt(n * rate * 1024 / harmonic) }')"
    fi
    # In a storm the arenas of the allocator itself come and go.
    expect_at_least "KiB by which $4 may grow at rate $rate" "$grown" \
        "$([ "$4" = churn ] && echo 1024 || echo 65536)"
}

weather 512k 250 storm 8 $many
weather 4k 250 storm 8 $many
weather 1 250 storm 8 $each_one
weather 512k 64 churn $many
weather 1 64 churn $each_one
echo ok
