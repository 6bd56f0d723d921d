#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 2
#
# test_identity.sh: a program that changes its user, its capabilities or its namespaces while threads of the library run
# (http, control, interval, signal) can do what it can without them; afterwards they are all there, with its identity.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3
as_root "to become another user"
control=$SRC/test/e2e/control/ask.py
mkdir -m 700 run
mkdir -m 777 open
export XDG_RUNTIME_DIR="$work/run"
chmod 755 "$work"
victim=$(for_everybody "$victims/identity")

has_signal_thread() { grep -q '^SigCgt:.*[8-f]..$' "/proc/$server/status"; }
our_threads() { grep -lx 'libpprof.*' "/proc/$server"/task/*/comm | wc -l; }
has_threads() { [ "$(our_threads)" = "$1" ]; }

# start WHAT...: the program, which has not done it yet.
start() {
    rm -f guest.in server.err server.out open/*
    mkfifo guest.in
    env LIBPPROF="http=127.0.0.1:0,control,interval=1s,signal=USR2,heap:1,file=$work/open/%k.%n.pb.gz" \
        LD_PRELOAD="$library" "$victim" "$@" <guest.in >server.out 2>server.err &
    server=$!
    started="$started $server"
    exec 9>guest.in
    wait_until has_text server.err "/debug/pprof/"
    url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' server.err)
    wait_until has_signal_thread
    wait_until has_threads 4
}

finish_guest() {
    ends_with 7 "$server" "after $what"
    ! grep -v /debug/pprof/ server.err | grep -q . || fail "messages after $what: $(cat server.err)"
}

# identities: a line for each different one among the threads. One that opens files is there for a moment.
identities() {
    for task in "/proc/$server"/task/*; do
        identity=$(
            grep -E '^(Uid|Gid|Groups|Cap[A-Z][a-z]*|NoNewPrivs|Seccomp):' "$task/status" &&
                readlink "$task/ns/user" "$task/ns/mnt"
        ) 2>/dev/null || continue
        printf '%s' "$identity" | tr '\n\t' '  '
        echo
    done | sort -u
}

files() { find open -name 'heap.*.pb.gz' | wc -l; }
has_more_files() { [ "$(files)" -gt "$1" ]; }

expect_all_there() {
    wait_until has_threads 4
    expect_equal "identities after $what: $(identities)" 1 "$(identities | wc -l)"
    get answer /cmdline
    case $what in
    unshare | setns) ;; # the new namespace of users does not know who asks
    *)
        python3 "$control" "$work/run/pprof/$server.sock" status >answer ||
            fail "no answer on the control socket after $what"
        expect_equal "status on the control socket" 200 "$(sed -n 1p answer)"
        ;;
    esac
    before=$(files)
    wait_until has_more_files "$before"
    kill -USR2 "$server"
    wait_until has_more_files $((before + 1))
}

for what in user keep initgroups drop call switch unshare setns vfork fork handler threads fails; do
    start "$what"
    echo >&9
    wait_until has_text server.out changed
    expect_equal "what the program finds at $what" changed "$(cat server.out)"
    expect_all_there
    case $what in
    user | initgroups | call) expected='Uid: 65534 65534 65534 65534 ' ;;
    keep) expected='CapPrm: 0000000000000400 CapEff: 0000000000000400 ' ;;
    drop) expected='CapPrm: 0000000000000000 CapEff: 0000000000000000 ' ;;
    *) expected='Uid: 0 0 0 0 ' ;;
    esac
    identities >identity
    expect_contains "identity after $what" identity "$expected"
    finish_guest
done

# Once its children are in a namespace of processes, the program itself can create no thread: ours are gone, not the program.
what=children
start children
echo >&9
wait_until has_text server.out changed
expect_equal "what the program finds" changed "$(cat server.out)"
wait_until has_text server.err "libpprof-http: the thread could not be created again"
expect_equal "threads of ours" 0 "$(our_threads)"
ends_with 7 "$server"

# A collection goes on, and clients are served, while the program changes its user again and again.
what="switch 300"
start switch 300
python3 "$ask" "$url/profile?seconds=2" -o profile.pb.gz >profile.answer &
clients=$!
for client in 1 2 3 4 5 6 7 8; do
    (
        until has_text server.out changed; do
            python3 "$ask" "$url/heap?debug=1" >"heap.$client" || exit 1
            [ "$(sed -n 1p "heap.$client")" = 200 ] || exit 1
        done
    ) &
    clients="$clients $!"
done
echo >&9
for client in $clients; do
    wait "$client" || fail "a client has no answer: $(cat server.err server.out)"
done
expect_equal "what the program finds" changed "$(cat server.out)"
expect_equal "status of the profile: $(tr -d '\0' <profile.pb.gz | head -c 200)" 200 "$(sed -n 1p profile.answer)"
[ -s profile.pb.gz ] || fail "the profile is empty"
expect_all_there
finish_guest

# A static program, with one thread of ours.
if [ -e "$BUILD/lib/libpprof_static.a" ] && command -v cc >/dev/null; then
    cc -w -static -D_GNU_SOURCE -o static "$SRC/test/e2e/victims/identity.c" "$BUILD/lib/libpprof_static.a" \
        "-Wl,@$BUILD/lib/libpprof_static.wrap" -lz 2>errors || fail "linking statically: $(cat errors)"
    for what in user keep drop call switch unshare setns; do
        expect_equal "status of $what, static" 7 "$(echo | LIBPPROF="interval=1s,heap:1,file=/dev/null" status ./static $what 2>errors |
            tee out | tail -n 1)"
        expect_equal "what the static program finds at $what" changed "$(sed -n 1p out)"
        expect_equal "messages of $what, static" "" "$(cat errors)"
    done
fi

# setpriv, and what it executes.
if command -v setpriv >/dev/null && ! is_of_other_libc "$(command -v setpriv)"; then
    LIBPPROF=http=127.0.0.1:0,subprocesses LD_PRELOAD="$library" setpriv --reuid=65534 --regid=65534 --groups=1,2 \
        --inh-caps=-all --bounding-set=-all --no-new-privs id -u >out 2>errors || fail "setpriv: $(cat errors)"
    expect_equal "user" 65534 "$(cat out)"
fi
echo ok
