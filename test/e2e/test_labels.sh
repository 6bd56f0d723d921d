#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_labels.sh: what a thread does under labels is shown under these labels by go tool pprof.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# spent NAME: milliseconds, as the victim says.
spent() { awk -v name="$1" '$1 == name { print $2 }' spent; }

# focused FILE TAG: the weight of what has this tag (key=value).
focused() {
    go_pprof "$as_written" -raw -tagfocus="$2" "$1" >focused.raw 2>focused.err || fail "$(cat focused.err)"
    weight focused.raw
}

# What a tick that was late gives to the next one: see lib.sh.
near() { # NAME EXPECTED FOUND
    expect_near "milliseconds of $1" "$2" "$3" "$(percent "$total" 8)"
}

check_cpu() {
    "$linked/labels" cpu "$work/cpu.pb.gz" "$engine" >spent || : >failed
    raw cpu.pb.gz
    total=$(awk '$1 == "a" || $1 == "b" || $1 == "none" { sum += $2 } END { print sum }' spent)
    near everybody "$total" "$(weight cpu.pb.gz.raw)"
    near a "$(spent a)" "$(focused cpu.pb.gz tenant=^a$)"
    near b "$(spent b)" "$(focused cpu.pb.gz tenant=^b$)"
    near "the phase" "$(spent phase)" "$(focused cpu.pb.gz 'phase=two words')"
    near "nobody" "$(spent none)" "$(($(weight cpu.pb.gz.raw) - $(focused cpu.pb.gz 'tenant=.')))"
}

for engine in timer perf; do
    attempts 4 check_cpu
    expect_no_file failed # no attempt may end badly
    # Labels of the innermost set come with those that it was added to.
    go_pprof "$as_written" -raw cpu.pb.gz 2>/dev/null | grep 'phase:\[' | grep -vF 'tenant:[a]' &&
        fail "a phase without its tenant"
    go_pprof -tags cpu.pb.gz >tags 2>/dev/null || fail "no tags"
    expect_contains "the tags" tags "tenant: Total"
    expect_contains "the tags" tags "phase: Total"
    expect_contains "the tags" tags "two words"
done

# Who waits, and who holds: each under its own labels.
"$linked/labels" contention "$work" || fail "contention"
raw block.pb.gz
raw mutex.pb.gz
focused block.pb.gz 'role=^waiter$' >number
expect_equal "waits with labels" 5 "$(weight_with focused.raw pthread_mutex_lock waits_for_mutex)"
expect_equal "all waits for the mutex" 10 \
    "$(weight_with block.pb.gz.raw pthread_mutex_lock waits_for_mutex)"
focused mutex.pb.gz 'role=^holder$' >number
expect_equal "releases of the holder" 10 "$(weight_with focused.raw hold_up)"
expect_equal "all releases" 10 "$(weight_with mutex.pb.gz.raw hold_up)"
focused block.pb.gz 'state=^waiting$' >number
expect_equal "waits that go on" 1 "$(weight_with focused.raw sem_wait waits_for_ever)"
focused block.pb.gz 'role=^stuck$' >number
expect_equal "waits that go on, by their label" 1 "$(weight_with focused.raw sem_wait waits_for_ever)"
grep -q 'not this' block.pb.gz.raw && fail "two values for one key"
for name in block mutex; do
    grep -q 'role' $name.txt && fail "labels in the text of $name"
done

# Who allocated; not who freed.
in_use() { # TAG: objects in use at the site
    go_pprof "$as_written" -raw -tagfocus="$1" heap.pb.gz 2>/dev/null >focused.raw
    awk '/^Samples:/ { part = 1 } /^Locations/ { part = 0 }
        part && /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { line = $0 }
        part && /bytes:\[1000 / { split(line, v, " "); sum += v[3] } END { print sum + 0 }' focused.raw
}
"$linked/labels" heap "$work" || fail "heap"
raw heap.pb.gz
expect_equal "blocks of a in use" 25 "$(in_use 'tenant=^a$')"
expect_equal "blocks of b in use" 50 "$(in_use 'tenant=^b$')"
expect_equal "all blocks in use" 125 "$(in_use '1000b')"
grep -q 'tenant' heap.txt && fail "labels in the text of heap"

# A set for each of 300 000 requests: totals are exact, live blocks keep their labels, every sample
# has one whole set, and memory has an end.
"$linked/labels" storm "$work" >spent || fail "storm"
raw cpu.pb.gz
raw heap.pb.gz
for name in cpu heap; do
    awk '/request:|again:/ {
        x = $0; sub(/.*request:\[/, "", x); sub(/\].*/, "", x)
        y = $0; sub(/.*again:\[/, "", y); sub(/\].*/, "", y)
        if (x != y) bad = 1
        n++
    } END { exit bad || n == 0 }' $name.pb.gz.raw || fail "a mixed set, or none, in $name"
done
expect_equal "requests that allocated, and blocks that are kept" "300000 300" \
    "$(blocks heap.pb.gz.raw | awk -F '\t' 'index($0 "\t", "\tserve_request\t") {
        split($1, v, " "); a += v[1]; u += v[3] } END { printf "%d %d\n", a, u }')"
expect_equal "kept blocks with the label of their request" 300 "$(awk '
    /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { in_use = $3; next }
    in_use > 0 && /request:\[[0-9]*000\]|request:\[0\]/ { sum += in_use } END { print sum }' heap.pb.gz.raw)"
grep -q 'blocks sampled are shown without their labels' heap.pb.gz.raw || fail "no word of it"
expect_near "mebibytes" 0 "$(spent mebibytes)" 60 # it takes 15
echo ok
