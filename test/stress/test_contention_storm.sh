#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 900
# nightly: 3
#
# test_contention_storm.sh: waits that never come back (a handler jumps out, asynchronous cancellation, a vfork child
# is killed), and libraries that are bound to libc past us, beside threads that fight for locks: right results,
# and nobody is left among those who wait. 2 seconds each; STRESS=long: two minutes each.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout

seconds=2
[ "${STRESS-}" != long ] || seconds=120

cat >other.c <<'EOC'
#include <pthread.h>
int other_lock(pthread_mutex_t *m) { return pthread_mutex_lock(m); }
int other_unlock(pthread_mutex_t *m) { return pthread_mutex_unlock(m); }
EOC
cc -shared -fPIC -o other.so other.c

storm() { # NAME ARGUMENTS...
    storm_name=$1
    shift
    expect_equal "status of $storm_name" 42 "$(status timeout -s KILL $((seconds + 60)) env \
        LIBPPROF="block,mutex,file=$work/$storm_name.%k.pb.gz" LD_PRELOAD="$library" "$victims/contention_storm" "$@")"
    raw "$storm_name.block.pb.gz"
    raw "$storm_name.mutex.pb.gz"
    ! grep -q 'state:\[waiting\]' "$storm_name.block.pb.gz.raw" ||
        fail "$storm_name: somebody still waits: $(grep -A 1 '^ *1 ' "$storm_name.block.pb.gz.raw")"
    # Each wait that came back is whole; of those that did not there is none.
    expect_equal "waits of $storm_name that never ended" "0 0 0" \
        "$(for function in waits_and_jumps waits_for_cancellation waits_as_child; do
            weight_with "$storm_name.block.pb.gz.raw" pthread_mutex_lock $function
        done | tr '\n' ' ' | sed 's/ $//')"
}

# delay RAW NAME...: the nanoseconds of the stacks that have these functions.
delay() {
    sed -E 's/^( *)([0-9]+) +([0-9]+):/\1\3 \2:/' "$1" >delay.raw
    shift
    weight_with delay.raw "$@"
}

fighters_wait() {
    storm plain library $seconds ./other.so plain
    expect_at_least "releases for which somebody waited" 1 "$(weight_with plain.mutex.pb.gz.raw pthread_mutex_unlock fights)"
    waits=$(delay plain.block.pb.gz.raw pthread_mutex_lock)
    expect_near "sum of holders' delays" "$waits" "$(delay plain.mutex.pb.gz.raw)" "$(percent "$waits" 2)"
    # By way of the library that was loaded late, too.
    expect_at_least "waits by way of the library" 1 "$(weight_with plain.block.pb.gz.raw pthread_mutex_lock other_lock)"
}
attempts 3 fighters_wait

if ! is_musl "$library"; then # musl binds no library past those that are preloaded (RTLD_DEEPBIND)
    storm deep library $seconds ./other.so deep
    expect_equal "waits of calls that are bound to libc" 0 "$(weight_with deep.block.pb.gz.raw other_lock)"
fi
storm jump jump $seconds
is_musl "$library" || storm cancel cancel $seconds # there it hangs in a wait without the library, too
storm vfork vfork $seconds
echo ok
