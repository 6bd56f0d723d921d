#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_allocators.sh: C and C++ programs under each allocator that is installed, preloaded behind us
# and before us.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

PATH=$PATH:/sbin
find_library() { ldconfig -p | sed -n "s|.*$1.* => ||p" | head -n 1; }

tested=
check() { # NAME LIBRARY
    name=$1 allocator=$2
    [ "$name" = libc ] || [ -n "$allocator" ] || return 0
    tested="$tested $name"

    # Every block is seen once: where operator new is the allocator's own, and where it calls malloc.
    rm -f ./*.raw ./*.pb.gz
    throw=throw
    [ "$name" != mimalloc ] || throw= # its operator new ends the process, as it is built in Debian
    expect_equal "output with $name" "${throw:+thrown 201, handled 3}" \
        "$(env LD_PRELOAD="$library $allocator" LIBPPROF="heap:1,file=$work/p.pb.gz" \
            "$victims/heap_cxx" $throw)"
    raw p.pb.gz
    expect_blocks() { # FUNCTION BLOCKS BYTES BLOCKS_IN_USE BYTES_IN_USE
        expect_equal "blocks of $1 with $name" "$2 $3 $4 $5" "$(blocks_of p.pb.gz.raw "$1" main)"
    }
    expect_blocks by_new 1000 1000000 1000 1000000
    expect_blocks by_new_array 1000 2000000 1000 2000000
    expect_blocks by_new_nothrow 2000 1000000 2000 1000000
    expect_blocks by_new_aligned 2000 8192000 2000 8192000
    expect_blocks by_new_aligned_nothrow 2000 8192000 2000 8192000
    expect_blocks freed_by_delete 6000 600000 0 0
    expect_blocks freed_by_delete_aligned 6000 768000 0 0
    map=$(blocks_of p.pb.gz.raw by_map main)
    expect_at_least "blocks of by_map with $name" 2900 "$(field 1 "$map")"
    expect_equal "in use of by_map with $name" "0 0" "$(field 3- "$map")"

    env LD_PRELOAD="$library $allocator" LIBPPROF="heap:1,file=$work/c.pb.gz" "$victims/heap" shares
    raw c.pb.gz
    expect_equal "blocks of three_quarters with $name" "300000 300000000 0 0" \
        "$(blocks_of c.pb.gz.raw three_quarters)"
    expect_equal "blocks of one_quarter_kept with $name" "100000 100000000 100000 100000000" \
        "$(blocks_of c.pb.gz.raw one_quarter_kept)"

    # An allocator that was preloaded before us has the program's malloc. Nothing breaks, and we say so.
    [ -n "$allocator" ] || return 0
    rm -f p.pb.gz
    env LD_PRELOAD="$allocator $library" LIBPPROF="heap:1,file=$work/p.pb.gz" "$victims/heap_cxx" \
        $throw >output 2>errors
    expect_contains "messages with $name before us" errors "heap profile will be empty"
    raw p.pb.gz
    expect_equal "blocks of by_new with $name before us" "0 0 0 0" "$(blocks_of p.pb.gz.raw by_new)"
}

check libc ""
check jemalloc "$(find_library 'libjemalloc\.so\.2')"
check tcmalloc "$(find_library 'libtcmalloc\.so\.4')"
check tcmalloc_minimal "$(find_library 'libtcmalloc_minimal\.so\.4')"
check mimalloc "$(find_library 'libmimalloc\.so\.2')"

expect_equal "leaves of by_new" "operator new" "$(
    env LD_PRELOAD="$library" LIBPPROF="heap:1,file=$work/p.pb.gz" "$victims/heap_cxx"
    raw p.pb.gz
    leaves_of p.pb.gz.raw by_new
)"
echo "ok:$tested"
