#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_attached.sh: the library in a program that has loaded it while it ran: the control socket, a CPU profile of threads
# that were there before and of later ones, and what is left after `detach`.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"
need python3

# ---- attach, CPU, detach ----

# The second `facts` sees what the first one has bound.
warm_up() {
    tell work >/dev/null
    tell cancel >/dev/null
    facts warm
    facts warm
}

for way in load load-thread; do
    start
    warm_up
    attach "$way"
    expect_equal "what is on" on "$(answer status | grep '^on')"
    "$cpprof" top "pid:$guest/profile?seconds=1" >cpu.txt || fail "no CPU profile"
    expect_contains "a thread from before" cpu.txt burn_cpu
    "$cpprof" top "pid:$guest/thread" >threads.txt || fail "no profile of threads"
    expect_contains "threads from before" threads.txt hold_lock
    detach
    expect_no_file "$at"
    expect_equal "files" "" "$(ls "$work"/*.pb.gz 2>/dev/null)"
    end
done

# A second time by pprof_configure(), which a thread of the program is made to call.
start
warm_up
attach
detach
tell say attach >/dev/null
tell state >/dev/null
detach
facts before
for round in 1 2 3; do
    expect_equal "attach again, $round" "said 0" "$(tell say attach)"
    expect_equal "state again, $round" "state 2" "$(tell state)"
    "$cpprof" top "pid:$guest/profile?seconds=1" >cpu.txt || fail "no CPU profile the $round. time"
    "$cpprof" top "pid:$guest/thread" >threads.txt || fail "no profile of threads the $round. time"
    expect_contains "threads the $round. time" threads.txt hold_lock
    expect_contains "the $round. time" cpu.txt burn_cpu
    if [ "$round" = 3 ]; then
        expect_equal "detach by a call" "said 0" "$(tell say detach)"
        expect_equal "state after it" "state 5" "$(tell state)"
    else
        detach
    fi
    wait_until same_facts before after
done

# Threads that begin meanwhile are in the profile.
tell say attach >/dev/null
tell state >/dev/null
"$cpprof" top "pid:$guest/profile?seconds=3" >cpu.txt &
profile=$!
until is_over "$profile"; do tell threads >/dev/null; done
wait "$profile" || fail "no CPU profile of new threads"
expect_contains "new threads" cpu.txt burn_in_new_thread

# A child of fork is not attached, and has no socket.
expect_equal "state in a child" "child 0" "$(tell fork)"
expect_equal "sockets" "$guest.sock" "$(ls "$work/run/pprof")"

# libc's handler of the sampling signal, which pthread_cancel installs, does not stay.
tell cancel >/dev/null
"$cpprof" top "pid:$guest/profile?seconds=1" >cpu.txt || fail "no CPU profile after a cancellation"
expect_contains "after a cancellation" cpu.txt burn_cpu
end
expect_no_file "$at"

# ---- what cannot be done ----

# A filter that one thread has installed, where nobody could see it.
start
confined=$(tell confine)
expect_equal "load beside a filter" "loaded" "$(tell load "$attach_library")"
tell state >filtered.txt
expect_contains "beside a filter" filtered.txt "state 3 thread ${confined#confined } is under a seccomp filter"
expect_no_file "$at"
end

# The state says why, and the next attempt may succeed.
mkdir alone
cp -L "$attach_library" alone/libpprof-attach.so
ln -s libpprof-attach.so alone/libpprof.so.0 # what musl's loader looks for
start
expect_equal "load a library without its server" "loaded" "$(tell load "$work/alone/libpprof-attach.so")"
tell state >failed.txt
expect_contains "without the server" failed.txt "state 3 control: no socket, libpprof-http.so.0 could not be loaded"
cp -L "$BUILD/lib/libpprof-http.so.0" alone/
expect_equal "attach after a failure" "said 0" "$(tell say attach)"
expect_equal "state after a failure" "state 2" "$(tell state)"
rm -r alone
"$cpprof" top "pid:$guest/thread" >threads.txt || fail "no profile of threads once the files are gone"
detach
expect_equal "attach without the files" "said 0" "$(tell say attach)"
expect_equal "state without the files" "state 2" "$(tell state)"
end

# ---- holders ----

# The attachment ends with the last client that holds it.
hold() {
    python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"POST /control/hold HTTP/1.0\r\n\r\n")
print(flush=True)
sys.exit(len(s.recv(1)))' "$at" >"$1" &
    holder=$!
    started="$started $holder"
    wait_until test -s "$1"
}
start
attach
hold one
one=$holder
hold two
two=$holder
answer status >/dev/null
kill -KILL "$one"
wait "$one" 2>/dev/null || true
answer status >/dev/null
kill -KILL "$two"
wait "$two" 2>/dev/null || true
wait_until test ! -e "$at"
expect_equal "state without holders" "state 5" "$(tell state)"
end

# ---- a program that was started with the library ----

# `detach` ends the socket and the kinds that came with `attach`, and nothing else.
# shellcheck disable=SC2154 # lib.sh has it
start env LD_PRELOAD="$library" LIBPPROF="heap:1,file=$work/%k.pb.gz" "$victims/attached"
expect_equal "load" "loaded" "$(tell load "$attach_library")"
expect_equal "state before attach" "state 0" "$(tell state)"
expect_equal "attach" "said 0" "$(tell say attach)"
expect_equal "state" "state 2" "$(tell state)"
answer status >on.txt
expect_contains "what is on" on.txt "on heap:1"
answer "configure block:1" >/dev/null
detach
expect_no_file "$at"
expect_equal "attach again" "said 0" "$(tell say attach)"
expect_equal "state" "state 2" "$(tell state)"
answer status >on.txt
expect_equal "what is on after detach" "on heap:1" "$(grep '^on' on.txt)"
end
[ -s heap.pb.gz ] || fail "no file at the end"
