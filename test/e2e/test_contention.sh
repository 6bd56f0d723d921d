#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_contention.sh: scripted waits: who is charged for them, beside what the script has measured itself
# around its calls, and beside Go.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# by_delay RAW: the same with the delay in front, which is what the functions of lib.sh add up.
by_delay() { sed -E 's/^( *)([0-9]+) +([0-9]+):/\1\3 \2:/' "$1" >"$1.delay"; }

# ---- the script ----

# A thread may lose its processor between its reading of the clock and the wait: each attempt waits longer, to which that
# is less.
scripted() {
    rm -f ./*.pb.gz*
    preload "block,mutex,file=$work/script.%k.pb.gz" "$victims/contention" $((200 * (6 - attempts_left))) >measured
    for kind in block mutex; do
        raw script.$kind.pb.gz
        by_delay script.$kind.pb.gz.raw
    done
    block=script.block.pb.gz.raw.delay
    mutex=script.mutex.pb.gz.raw.delay

    while read -r function ns; do
        case $function in
        takes_from_queue) found=$(weight_with $block pthread_cond_wait "$function") ;;
        *) found=$(weight_with $mutex "$function") ;;
        esac
        expect_near "nanoseconds of $function" "$ns" "$found" "$(percent "$ns" 5)"
    done <measured

    # The hooked function is the leaf.
    for pair in pthread_mutex_unlock:holds_mutex pthread_mutex_unlock:holds_outer \
        pthread_rwlock_unlock:holds_as_writer pthread_rwlock_unlock:holds_as_reader; do
        expect_at_least "delay of $pair" 1 "$(weight_directly $mutex "${pair%:*}" "${pair#*:}")"
    done

    # Holders' delays are the waits for locks; one that goes on is nobody's yet.
    waits=0
    for function in pthread_mutex_lock pthread_rwlock_rdlock pthread_rwlock_wrlock; do
        waits=$((waits + $(weight_with $block $function)))
    done
    waits=$((waits - $(weight_with $block deadlocks)))
    expect_near "sum of holders' delays" "$waits" "$(weight $mutex)" "$(percent "$waits" 2)"
}
attempts 5 scripted

# A wait that goes on is a sample with a label.
raw script.block.pb.gz
grep -A 1 '^ *1 ' script.block.pb.gz.raw | grep -q 'state:\[waiting\]' || fail "no wait that goes on"
expect_at_least "waits in deadlocks" 1 "$(weight_with script.block.pb.gz.raw pthread_mutex_lock deadlocks)"

# ---- Go ----

# Functions with at least a hundredth of the delay, by name.
holders() {
    for function in holds_mutex holds_inner holds_outer holds_as_writer holds_as_reader waits_for_mutex \
        wants_outer reads writes; do
        awk -v found="$(weight_with "$1" "$2$function")" -v all="$(weight "$1")" -v name=$function \
            'BEGIN { if (found * 100 >= all) print name }'
    done
}

# A thread that loses its processor while it has the lock is a holder, too: by chance, and in both.
beside_go() {
    scripted
    ./go_contention >go.pb.gz
    raw go.pb.gz
    by_delay go.pb.gz.raw
    expect_equal "holders as Go sees them" "$(holders go.pb.gz.raw.delay main.)" \
        "$(holders script.mutex.pb.gz.raw.delay "")"
}

if GOCACHE=${GOCACHE:-$work/cache} GOFLAGS=-mod=mod go build -gcflags=all=-l -o go_contention \
    "$SRC/test/e2e/go/contention.go" 2>go.err; then
    attempts 5 beside_go
else
    echo "without Go's own: $(cat go.err)"
fi

# ---- fractions: those at the recording, whatever holds when the profile is written ----

comments_of() { # FRACTION...: of both forms
    timeout -s KILL 60 "$linked/fractions" fractions.pb.gz "$@" | sed -n 's/^# libpprof: \(.*fraction.*\)/\1/p' \
        >comments_of_text
    raw fractions.pb.gz
    comments fractions.pb.gz.raw | sed -n 's/^libpprof: \(.*fraction.*\)/\1/p' >comments_of_proto
    cmp comments_of_text comments_of_proto >&2 || fail "$*: text and profile.proto have other comments"
    cat comments_of_text
}
expect_equal "one fraction" "2 is the fraction: values are scaled up by it" "$(comments_of 2)"
expect_equal "fraction 1" "" "$(comments_of 1)"
expect_equal "off before it is written" "2 was the fraction at the recording: values are scaled up by it" \
    "$(comments_of 2 0)"
expect_equal "changed before it is written" "2 was the fraction at the recording: values are scaled up by it" \
    "$(comments_of 2 +1000000)"
expect_equal "1, then off" "" "$(comments_of 1 0)"
expect_equal "never in force for a release" "3 is the fraction: values are scaled up by it" "$(comments_of +7 3)"
expect_equal "nothing recorded" "9 is the fraction: values are scaled up by it" "$(comments_of +9)"
expect_equal "three by turns" "the fraction was 1, 3, 2: each value was scaled up by that of its time" \
    "$(comments_of 1 3 1 2 3 0)"
expect_equal "more than are remembered" \
    "the fraction was 1, 2, 3, 4, 5, 6, 7, 8 and others: each value was scaled up by that of its time" \
    "$(comments_of 1 2 3 4 5 6 7 8 9)"

# ---- forms and records ----

expect_equal "records" "" "$("$linked/contention" "$work")"
for kind in block mutex; do
    raw $kind.pb.gz
    for form in txt bare; do
        go_pprof -raw $kind.$form >$kind.$form.raw 2>$kind.$form.err || fail "$kind.$form: $(cat $kind.$form.err)"
        expect_equal "contentions in $kind.$form" "$(weight $kind.pb.gz.raw)" "$(weight $kind.$form.raw)"
        by_delay $kind.$form.raw
        by_delay $kind.pb.gz.raw
        expect_equal "delay in $kind.$form" "$(weight $kind.pb.gz.raw.delay)" "$(weight $kind.$form.raw.delay)"
    done
    sed -n '/^[0-9]/p' $kind.txt >rows
    sed -n '/^[0-9]/p' $kind.bare >bare_rows
    cmp rows bare_rows || fail "$kind: rows with and without comments differ"
done
expect_equal "header of block" "--- contention:cycles/second=1000000000" "$(head -n 2 block.txt | tr -d '\n')"
expect_equal "header of mutex" "--- mutex:cycles/second=1000000000sampling period=1" "$(head -n 3 mutex.txt | tr -d '\n')"
grep -q '^#	0x[0-9a-f]*	*pthread_mutex_unlock+0x0	' mutex.txt || fail "no hooked function: $(head -n 20 mutex.txt)"
grep -q '^#	0x[0-9a-f]*	*holds+0x' mutex.txt || fail "no holder in: $(head -n 20 mutex.txt)"
