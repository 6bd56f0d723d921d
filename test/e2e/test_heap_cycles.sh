#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_cycles.sh: a collected heap beside Go's own functions for it, with each version of Go that is installed: the
# same random steps of allocations, sweeps and ends of cycles, and after each of them perhaps a look at the records.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

mkdir program
cp "$SRC/test/e2e/go/heap_cycles.go" program
: >program/bound.s # declares that functions have no body

# steps SEED: as a collector may take them: next once after a flush, what was given out before the last next is swept.
# Before the first next there is one look at most: Go shows everything at the first one, and libpprof at each.
steps() {
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        often = seed % 4 # of allocations; 0: so rarely that nothing has been published for long
        flushed = 1
        for (i = 0; i < 400; i++) {
            choice = rand()
            site = int(rand() * 8)
            if (choice < (often ? 0.15 * often : 0.02)) {
                print "alloc " site; young[site]++
            } else if (choice < 0.5) {
                if (swept[site] < old[site]) { print "sweep " site; swept[site]++ }
            } else if (choice < 0.65) {
                if (flushed) {
                    print "next"; flushed = 0; driven = 1
                    for (s = 0; s < 8; s++) { old[s] += young[s]; young[s] = 0 }
                }
            } else if (choice < 0.75) {
                print "flush"; flushed = 1
            } else if (choice < 0.8) {
                print "post_sweep"
            } else if (driven || !looked) {
                print "read"; looked = 1
            }
        }
        print "read"
    }'
}

# Nothing has been published when it is read: everything is shown, as if nobody had ended a cycle.
printf '%s\n' "alloc 3" next flush read next flush read >steps.first
for seed in $(seq 1 60); do
    steps "$seed" >"steps.$seed"
done

compared=
for go in "$(command -v go)" /usr/bin/go /usr/local/go/bin/go; do
    version=$("$go" env GOVERSION 2>/dev/null) || continue
    [ ! -e "cycles.$version" ] || continue
    flags=-checklinkname=0
    case $version in go1.1[0-9]* | go1.2[0-2]*) flags= ;; esac
    (cd program && GOCACHE=${GOCACHE:-$work/cache} GO111MODULE=off CGO_ENABLED=0 GOTOOLCHAIN=local \
        "$go" build -ldflags="$flags" -o "../cycles.$version" .) 2>go.errors ||
        { echo "without $version: $(cat go.errors)"; continue; }
    for seed in first $(seq 1 60); do
        timeout -s KILL 60 "./cycles.$version" <"steps.$seed" >of_go || fail "status $? of $version"
        timeout -s KILL 60 "$linked/heap_cycles" <"steps.$seed" >of_ours || fail "status $?"
        diff of_go of_ours >&2 || fail "steps $seed: $version sees what has < before it, after: $(cat "steps.$seed")"
    done
    compared="$compared $version"
done
[ -n "$compared" ] || skip "no Go program can be built"
echo "ok:$compared"
