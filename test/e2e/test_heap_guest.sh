#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 1
#
# test_heap_guest.sh: programs that are hard on an allocator, with every block sampled, with some, and
# with sampling off; with libc's allocator and, where they are installed, with jemalloc, tcmalloc and
# mimalloc before and behind the library. What they print and their status is as without it. (What their
# profiles say: test_heap_hostile.sh.)
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout
! has_cxx || need c++

cat >unseen.c <<'C'
#include <stdlib.h>
void *get(size_t size) { return malloc(size); }
void *resize(void *block, size_t size) { return realloc(block, size); }
void give(void *block) { free(block); }
C
cc -O1 -fPIC -shared -o unseen.so unseen.c

allocator() { # NAME: its path, nothing if it is not installed; what is installed is for the distribution's libc
    ! is_musl "$library" || return 0
    ldconfig -p | awk -v name="lib$1.so" 'index($1, name) == 1 { print $NF; exit }'
}
allocators="libc $(allocator jemalloc) $(allocator tcmalloc_minimal) $(allocator mimalloc)"

# as_without NAME RATE COMMAND...: with $other, before and behind.
as_without() {
    run_name=$1
    run_rate=$2
    shift 2
    plain=$(status env LD_PRELOAD="$other" timeout -s KILL 60 "$@" 2>/dev/null >"$run_name.plain")
    for list in "$library $other" "$other $library"; do
        found=$(status env LD_PRELOAD="$list" LIBPPROF="heap:$run_rate,file=$work/heap.pb.gz" \
            timeout -s KILL 60 "$@" 2>"$run_name.errors" >"$run_name.found")
        expect_equal "status of $run_name, rate $run_rate, $list: $(cat "$run_name.errors")" \
            "$plain" "$found"
        cmp "$run_name.plain" "$run_name.found" >&2 || fail "output of $run_name, rate $run_rate, $list"
        [ -n "$other" ] || break
    done
}

for allocator in $allocators; do
    other=
    plainly=
    quietly=
    [ "$allocator" = libc ] || { other=$allocator; plainly=plain; }
    case $allocator in *mimalloc*) quietly=quietly ;; esac
    for rate in 0 1 4k; do
        # shellcheck disable=SC2086 # no argument if empty
        as_without arguments $rate "$victims/heap_arguments" $plainly
        # shellcheck disable=SC2086
        as_without new $rate "$victims/heap_new" $quietly
        [ -n "$quietly" ] || as_without left $rate "$victims/heap_new_left"
    done
    for mode in signals constructor threads fork vfork limit coroutines deep; do
        as_without $mode 1 "$victims/heap_guest" $mode
        # With us or without, mimalloc 3 does not survive the limit, and a jemalloc for pages of 64 KiB (Debian's on
        # aarch64) has too few blocks below it.
        [ "$mode" != limit ] || [ -z "$other" ] || grep -q 'limit ok' limit.plain || continue
        expect_contains "$mode with $allocator" $mode.found "$mode ok"
    done
done

# A program that has its C++ runtime in itself: the linker took our operator new for it.
other=
if has_cxx && c++ -std=c++17 -fno-builtin -w -static-libstdc++ -o static_runtime \
    "$SRC/test/e2e/victims/heap_new.cc" -L"$BUILD/lib" -lpprof -Wl,-rpath,"$BUILD/lib" 2>static.errors; then
    # The stand-in for nothrow forms cannot catch what a new_handler throws: it does not call it.
    "$victims/heap_new" | sed '/nothrow/s/handler.*//' >new.plain
    env LIBPPROF="heap:1,file=$work/heap.pb.gz" ./static_runtime >new.raw || fail "static runtime: $?"
    sed '/nothrow/s/handler.*//' new.raw >new.found
    cmp new.plain new.found >&2 || fail "output with a static C++ runtime"
    raw heap.pb.gz
    expect_equal "leaf of what stand-ins for operator new give" use_every_form \
        "$(leaves_of heap.pb.gz.raw use_every_form)"
fi

# A library with a malloc of its own breaks with every other allocator, with and without us.
other=
as_without deepbind 1 "$victims/heap_guest" deepbind "$work/unseen.so"
expect_contains "deepbind" deepbind.found "deepbind ok"
echo ok
