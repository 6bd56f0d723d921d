#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
# libc: glibc, musl's loader does not call the malloc of a program, by which this one knows that a library is loaded
#
# test_cpprof_attach_signals.sh: signals and cancellations that come while a thread loads the library for cpprof take effect
# after that, on the call in which the thread waits: none is lost, none leaves the loader in the middle. What the loader
# itself needs comes at once: the signal of a fault, and libc's own of setuid().
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof

# lends WAY WAIT EXPECTED: what the program says of its wait.
lends() {
    name=$1.$2
    mkfifo "$name.in"
    "$victims/borrowed" "$1" "$2" <"$name.in" >"$name.out" 2>&1 &
    process=$!
    started="$started $process"
    exec 3>"$name.in"
    wait_until has_line "$name.out" ready
    # The program may end before cpprof has asked it for anything.
    until has_line "$name.out" borrowed; do
        "$cpprof" configure "$process" log=/dev/null >"$name.log" 2>&1 || true
        has_line "$name.out" borrowed || grep -q 'no thread of process' "$name.log" ||
            fail "$name: $(cat "$name.log" "$name.out")"
    done
    wait_until is_over "$process"
    exec 3>&-
    ended=0
    wait "$process" || ended=$?
    expect_equal "status of $name: $(cat "$name.out")" 7 "$ended"
    expect_equal "$name" "ready borrowed $3 over" "$(tr '\n' ' ' <"$name.out" | sed 's/ $//')"
}

for wait in read poll ppoll epoll nanosleep; do
    lends jump $wait jumped
    lends cancel $wait cancelled
    lends interrupt $wait EINTR
    lends mask $wait EINTR
done
lends jump cond jumped
lends cancel cond cancelled
for wait in read poll ppoll epoll; do
    lends identity $wait "it returned"
    lends touch $wait "it returned"
done
echo ok
