#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 3
#
# test_attached_identity.sh: a program that is attached to can change its user, its capabilities and its namespaces as it
# could before, also one that had a single thread; the attachment goes along, and cpprof still reaches it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
as_root "to become another user"
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"
chmod 755 "$work"
victim=$(for_everybody "$victims/identity")

# It waits in read(2), which has another number on each architecture, for its first bytes.
waits_for_input() { grep -q '^[0-9]* 0x0 0x[0-9a-f]* 0x40 ' "/proc/$guest/syscall" && grep -qx identity "/proc/$guest/comm"; }
our_threads() { grep -slx 'libpprof.*' "/proc/$guest"/task/*/comm | wc -l; }
has_threads() { [ "$(our_threads)" = "$1" ]; }

# start WHAT KINDS: the program, attached to, which has not done it yet.
start() {
    guest "$victim" "$1"
    wait_until waits_for_input
    expect_equal "threads before $1" 1 "$(ls "/proc/$guest/task" | wc -l)"
    "$cpprof" configure "$guest" "$2" >status || fail "cannot attach before $1"
    wait_until has_threads 2
}

# change WHAT: has the program do it.
change() {
    echo >&9
    wait_until has_text guest.out changed
    expect_equal "what the program finds at $1" changed "$(cat guest.out)"
}

finish_guest() {
    ends_with 7 "$guest" "after $1"
    expect_equal "messages after $1" "" "$(cat guest.err)"
}

# identities: a line for each different one among the threads. One that opens files is there for a moment.
identities() {
    for task in "/proc/$guest"/task/*; do
        identity=$(
            grep -E '^(Uid|Gid|Groups|Cap[A-Z][a-z]*|NoNewPrivs):' "$task/status" &&
                readlink "$task/ns/user" "$task/ns/mnt"
        ) 2>/dev/null || continue
        printf '%s' "$identity" | tr '\n\t' '  '
        echo
    done | sort -u
}

expect_identity() {
    case $1 in
    user | initgroups | call) expected='Uid: 65534 65534 65534 65534 ' ;;
    keep) expected='CapPrm: 0000000000000400 CapEff: 0000000000000400 ' ;;
    drop) expected='CapPrm: 0000000000000000 CapEff: 0000000000000000 ' ;;
    *) expected='Uid: 0 0 0 0 ' ;;
    esac
    identities >identity
    expect_equal "identities after $1: $(cat identity)" 1 "$(wc -l <identity)"
    expect_contains "identity after $1" identity "$expected"
}

for kinds in cpu cpu,heap:1,block:1,mutex:1; do
    for what in user keep initgroups drop call switch unshare setns vfork fork handler threads fails; do
        start $what $kinds
        change $what
        wait_until has_threads 2
        expect_identity $what
        case $what in
        unshare | setns) ;; # the new namespace of users does not know who asks
        *)
            "$cpprof" configure "$guest" >after || fail "no answer after $what: $(cat after)"
            expect_equal "what is on after $what" "$(grep '^on' status)" "$(grep '^on' after)"
            "$cpprof" configure "$guest" heap:4096 >after || fail "no change after $what: $(cat after)"
            expect_contains "what is on after a change after $what" after heap:4096
            "$cpprof" configure "$guest" detach >after || fail "no detach after $what"
            wait_until has_threads 0
            ;;
        esac
        finish_guest $what
    done
done

# Once its children are in a namespace of processes, the program itself can create no thread: ours are gone, not the program.
start children cpu
change children
wait_until has_threads 0
finish_guest children

# A recording goes on, as root, while the program changes its user again and again, and when it stays another one.
for what in switch user; do
    start $what log=/dev/null
    "$cpprof" record -p "$guest" -e cpu,heap -d 1 -o record.pb.gz >record.out 2>&1 &
    recorder=$!
    change $what
    wait $recorder || fail "no recording while the program does $what: $(cat record.out)"
    [ -s record.cpu.pb.gz ] || fail "no profile: $(cat record.out)"
    finish_guest $what
done
echo ok
