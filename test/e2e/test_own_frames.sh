#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_own_frames.sh: no frame of libpprof is in any stack, but the hooked function as its leaf, under the name that the
# program called; and the first call of a site has the stack of later ones. In programs that know nothing of the
# library, that are linked to libpprof.so, to libpprof.a, and to libpprof_static.a.
# timeout: 300
# nightly: 2
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc nm readelf timeout
! has_cxx || need c++

sources=$SRC/test/e2e/own_frames
ROUNDS=4

# Functions that the program may call: all that the library exports, as `go tool pprof` writes them.
readelf -W --dyn-syms "$library" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && $5 != "LOCAL" {
    sub(/@.*/, "", $8); print $8 }' | sort -u >allowed
printf 'operator %s\n' new 'new[]' delete 'delete[]' >>allowed
expect_contains "exported names" allowed pthread_mutex_lock

compile() { # COMPILER SOURCE FLAGS...
    compile_with=$1
    compile_source=$2
    shift 2
    $compile_with -w -O1 -g -fno-inline -fno-optimize-sibling-calls -fomit-frame-pointer -D_GNU_SOURCE \
        -I "$SRC/include" -o program "$sources/$compile_source" "$@" 2>messages ||
        fail "$compile_source $*: $(cat messages)"
}

# look NAME: into all profiles of the last run. `from` and `to` say where our code is, if it is in the program.
look() {
    total=0
    for profile in out/*.pb.gz; do
        raw "$profile"
        sites='^$'
        case $profile in
        */heap.* | */values.*) [ "$every_block" = no ] || sites='^site_' ;;
        */fd.*) sites='^fd_' ;;
        */block.*) sites='^wait_' ;;
        esac
        awk -f "$sources/own_frames.awk" -v allowed=allowed -v from="$from" -v to="$to" -v rounds=$ROUNDS \
            -v sites="$sites" "$profile.raw" "$profile.raw" >wrong
        [ ! -s wrong ] || fail "$1, $profile: $(head -n 20 wrong)"
        total=$((total + 1))
    done
    expect_at_least "profiles of $1" "$2" $total
}

# Where our code is in the program, from its table of symbols.
own_range() {
    from=$(nm program | awk '$3 == "__start_pp_text" { print $1 }')
    to=$(nm program | awk '$3 == "__stop_pp_text" { print $1 }')
    if [ -z "$from" ] || [ -z "$to" ]; then fail "the program has no section of our code"; fi
}

run() { # NAME COMMAND...
    run_name=$1
    shift
    rm -rf out
    mkdir out
    "$@" out >out.txt 2>&1 || fail "$run_name: $? $(cat out.txt)"
    rm -f out/fifo
}

options="cpu:1000,heap:1,block:1,mutex:1,fd,thread,file=$work/out/%k.pb.gz"
every_block=yes
from=
to=

# ---- preloaded ----

compile cc hooks.c -pthread
run preloaded env LIBPPROF="$options" LD_PRELOAD="$library" ./program
look preloaded 6

# The library was there: samples landed in it, and are leaves.
raw out/cpu.pb.gz
expect_at_least "samples in hooks" 20 "$(stacks out/cpu.pb.gz.raw | awk -F '\t' 'NR == FNR { name[$1] = 1; next }
    $2 in name { sum += $1 } END { print sum + 0 }' allowed -)"
raw out/thread.pb.gz
for pair in ends_in_mutex:pthread_mutex_lock ends_in_rwlock:pthread_rwlock_wrlock ends_in_join:pthread_join \
    ends_in_futex:syscall; do
    expect_equal "threads in ${pair%:*}" 1 "$(weight_with out/thread.pb.gz.raw "${pair%:*}")"
done

if has_cxx; then
    compile c++ objects.cc
    run C++ env LIBPPROF="heap:1,file=$work/out/%k.pb.gz" LD_PRELOAD="$library" ./program
    look C++ 1
    every_block=no
    run "C++, by malloc" env LIBPPROF="cpu:1000,heap:64k,file=$work/out/%k.pb.gz" LD_PRELOAD="$library" ./program
    look "C++, by malloc" 2
    every_block=yes
    # operator new stands in for libstdc++'s: where a sample lands below it, it is between malloc and the program.
    expect_equal "stacks of malloc that burn_new is said to have called" 0 \
        "$(weight_directly out/cpu.pb.gz.raw malloc burn_new)"
fi

# ---- linked ----

compile cc hooks.c -DLINKED -pthread -L"$BUILD/lib" -lpprof -Wl,-rpath,"$BUILD/lib"
run linked env LIBPPROF="$options" ./program
look linked 8

compile cc hooks.c -DLINKED -pthread -no-pie -fno-pie -rdynamic "$BUILD/lib/libpprof.a" -lz -ldl
own_range
run "linked to libpprof.a" env LIBPPROF="$options" ./program
look "linked to libpprof.a" 8

# ---- static ----

if [ -e "$BUILD/lib/libpprof_static.a" ]; then
    compile cc hooks.c -DLINKED -DSTATIC -static "$BUILD/lib/libpprof_static.a" \
        -Wl,@"$BUILD/lib/libpprof_static.wrap" -lz
    own_range
    run static env LIBPPROF="cpu:1000,heap:1,block:1,mutex:1,thread,file=$work/out/%k.pb.gz" ./program
    look static 7
fi
