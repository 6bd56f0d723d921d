#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_contention_counts.sh: contentions of the mutex profile are waits that releases have ended, as many as the block
# profile has of locks, however often somebody else takes the lock first; and so in Go. Every form says the same number.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

TURNS=100000

by_delay() { sed -E 's/^( *)([0-9]+) +([0-9]+):/\1\3 \2:/' "$1" >"$1.delay"; }

# loop OPTIONS: in $waits and $released, and in nanoseconds $waited and $charged.
loop() {
    rm -f loop.*
    preload "$1,file=$work/loop.%k.pb.gz" "$victims/contention_loop" "$TURNS"
    for kind in block mutex; do
        raw loop.$kind.pb.gz
        by_delay loop.$kind.pb.gz.raw
    done
    waits=$(weight_with loop.block.pb.gz.raw pthread_mutex_lock)
    waited=$(weight_with loop.block.pb.gz.raw.delay pthread_mutex_lock)
    released=$(weight loop.mutex.pb.gz.raw)
    charged=$(weight loop.mutex.pb.gz.raw.delay)
}

# On an idle machine with few processors it may take some turns until two threads meet.
loop block:1,mutex:1
while [ "$waits" -lt 20 ]; do
    TURNS=$((TURNS * 4))
    [ "$TURNS" -lt 100000000 ] || skip "threads do not meet here"
    loop block:1,mutex:1
done
# A stack that was charged and let nobody through counts once: takes_turns, and perhaps one that nobody saw.
expect_near "contentions, as many as waits for the lock" "$waits" "$released" 2
expect_equal "delays, the same nanoseconds" "$waited" "$charged"
! awk '/^Samples:/ { on = 1; next } /^Locations/ { exit } on && $1 == 0 { found = 1 } END { exit !found }' \
    loop.mutex.pb.gz.raw || fail "a stack with delays and no contention"

# ---- Go ----

if GOCACHE=${GOCACHE:-$work/cache} GOFLAGS=-mod=mod go build -gcflags=all=-l -o go_loop \
    "$SRC/test/e2e/go/contention_loop.go" 2>go.err; then
    # Go counts some dozens of contentions more than waits, however many there are: few waits say nothing.
    go_waits=0
    while [ "$go_waits" -lt 2000 ] && [ "$TURNS" -lt 100000000 ]; do
        GOMAXPROCS=4 ./go_loop "$TURNS"
        for kind in block mutex; do raw go.$kind.pb.gz; done
        go_waits=$(weight_with go.block.pb.gz.raw main.takes_turns)
        go_released=$(weight_with go.mutex.pb.gz.raw main.takes_turns)
        TURNS=$((TURNS * 4))
    done
    echo "Go: $go_waits waits, $go_released contentions; here: $waits, $released"
    if [ "$go_waits" -ge 2000 ]; then
        expect_near "contentions in Go" "$go_waits" "$go_released" "$(percent "$go_waits" 20)"
    fi
else
    echo "without Go's own: $(cat go.err)"
fi
