#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, of musl's loader cpprof does not read why it refuses a library
# nightly: 1
#
# test_cpprof_cramped.sh: where a process cannot take the library, `cpprof record -p` says what was missing there
# (victims/cramped.c), and the process goes on. One in a user namespace without users is reached.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof

# start COMMAND...: its process is $process.
start() {
    rm -f input
    mkfifo input
    "$@" <input >cramped.out 2>&1 &
    process=$!
    started="$started $process"
    exec 3>input
    can_start() { has_line cramped.out ready || is_over "$process"; }
    wait_until can_start
}

over() {
    exec 3>&-
    wait "$process" || fail "it ended with $?: $(cat cramped.out)"
}

# refused TEXT...: `record -p` is refused with one of these texts, and with no advice that would not help.
refused() {
    ! "$cpprof" record -p "$process" -d 1 -o none.pb.gz >said 2>&1 || fail "attached: $(cat said)"
    ! grep -q 'libz' said || fail "wrong reason: $(cat said)"
    for text in "$@"; do
        if grep -qF -- "$text" said; then
            return
        fi
    done
    fail "expected one of: $*; found: $(cat said)"
}

start "$victims/cramped" descriptors
refused "libpprof-attach.so: cannot open shared object file: Too many open files"
over

# With more and more room: the loader, the thread, the server, the first profile find too little, until all do.
loader=0
thread=0
room=1000
while [ $room -lt 60000 ]; do
    start "$victims/cramped" space $room
    if "$cpprof" record -p "$process" -d 1 -e thread -o room.pb.gz >said 2>&1; then
        over
        break
    fi
    case $(cat said) in
    *"its loader did not take libpprof, and says: "*"address space is limited to "*) loader=1 ;;
    *"no room for the stack; raise its limit on address space"*) thread=1 ;;
    *"libpprof-http.so.0 could not be loaded: "*) ;;
    *"the server cannot begin: Cannot allocate memory"*) ;;
    *"no memory"* | *"its control socket does not answer: "*) ;;
    *) fail "with $room KiB of room: $(cat said)" ;;
    esac
    over
    room=$((room + 500))
done
[ $room -lt 60000 ] || fail "never attached"
[ $loader = 1 ] || fail "the loader has never refused"
[ $thread = 1 ] || fail "there was never too little room for the thread alone"

user=
cramped=$victims/cramped
if [ "$(id -u)" = 0 ]; then
    need setpriv
    user="setpriv --reuid=65534 --regid=65534 --clear-groups"
    cramped=$(for_everybody "$victims/cramped")
fi
start $user "$cramped" threads
refused "raise its limit on threads"
over

start "$victims/cramped" stranger
if has_line cramped.out ready; then
    "$cpprof" record -p "$process" -d 1 -e thread -o stranger.pb.gz >said 2>&1 || fail "a namespace without users: $(cat said)"
    over
fi
echo ok
