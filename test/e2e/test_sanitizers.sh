#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, compilers have no sanitizers for musl
# nightly: 2
#
# test_sanitizers.sh: programs that are built with a sanitizer and linked to the library, which is not: no false
# alarm about what it fills in, and the alarms that the program deserves. Programs that know nothing of the library and
# are preloaded with it live as without, and their sanitizer has as little to say.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
tried=
export ASAN_OPTIONS=detect_leaks=0

# build COMPILER SANITIZER: ./records; fails if that is not to be had here.
build() {
    command -v "$1" >/dev/null &&
        "$1" -g -O1 -fno-inline -fno-optimize-sibling-calls "-fsanitize=$2" -D_GNU_SOURCE -I "$SRC/include" \
            -o records "$SRC/test/e2e/sanitized/records.c" -L "$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lpprof \
            -lpthread 2>build.errors && ./records >/dev/null 2>&1
}

reports() { # CASE TEXT: that case is reported, and why
    ./records "$1" >out 2>errors && fail "$compiler, $sanitizer: $1 is not reported"
    expect_contains "$compiler, $sanitizer: $1" errors "$2"
}

for compiler in gcc clang; do
    for sanitizer in address thread memory; do
        build $compiler $sanitizer || continue
        tried="$tried $compiler-$sanitizer"
        [ "$(status ./records read 2>errors | tail -n 1)" = 0 ] ||
            fail "$compiler, $sanitizer: a false alarm: $(cat errors)"
        case $sanitizer in
        address)
            reports short "in pp_sanitizers_write"
            reports freed heap-use-after-free
            ;;
        thread) reports race "data race" ;;
        esac
    done
done

# ---- preloaded

all=cpu:1000,heap:4096,block,mutex,thread,fd
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0

# What the library says where a sanitizer's malloc, linked into the program, comes before it.
without_advice() { grep -v '^libpprof: the heap profile will be empty: the program.s malloc is not the one' "$1" || true; }

same() { # OPTIONS
    found=0
    timeout -s KILL 120 env LIBPPROF="$1" LD_PRELOAD="$library" ./guest >out 2>errors || found=$?
    expect_equal "status of $guest with '$1', which says $(head -c 500 errors)" 42 "$found"
    cmp out plain >&2 || fail "$guest has another output with '$1'"
    expect_equal "messages of $guest with '$1'" "" "$(without_advice errors)"
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for sanitizer in address thread memory undefined leak; do
        guest="$compiler, $sanitizer"
        rm -f guest ./*.pb.gz
        $compiler -g -O1 -fsanitize=$sanitizer -D_GNU_SOURCE -o guest "$SRC/test/e2e/sanitized/guest.c" -lpthread \
            2>build.errors || continue
        found=0
        ./guest >plain 2>errors || found=$?
        [ $found = 42 ] && [ ! -s errors ] || continue
        same ''
        same "heap:1,file=$work/%k.pb.gz"
        same "$all,file=$work/%k.pb.gz"
        raw cpu.pb.gz
        expect_at_least "samples of $guest" 50 "$(weight cpu.pb.gz.raw)"
        tried="$tried preloaded-$compiler-$sanitizer"
    done
done
# ---- leaks

# The block's address is in a register that calls preserve, until the program ends: samples have it. LeakSanitizer
# searches our variables, too.
cat >leaks.c <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long turns;
static void *volatile block;
__attribute__((noinline)) static void work(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 5;
    register void *kept __asm__("rbx") = block;
    block = NULL;
    __asm__ volatile("" : "+r"(kept));
    while (clock() < end)
        for (int i = 0; i < 10000; i++) {
            turns++;
            __asm__ volatile("" : "+r"(kept));
        }
    kept = NULL;
    __asm__ volatile("" : "+r"(kept));
}
int main(void) { block = malloc(1234); work(); return 0; }
C
export ASAN_OPTIONS=detect_leaks=1:verify_asan_link_order=0

# LeakSanitizer stops the thread wherever it is. Of a thread that it met in a handler it searches what is left there of
# registers, of this sample and, if the handler is on another stack, of those that are over: a search that found the
# pointer proves nothing, and is repeated.
leak_is_reported() { # OPTIONS
    attempts=0
    while env LIBPPROF="$1,file=$work/leaks.pb.gz" LSAN_OPTIONS=log_threads=1 LD_PRELOAD="$library" ./leaks 2>errors; do
        attempts=$((attempts + 1))
        [ $attempts -lt 20 ] ||
            fail "$compiler: with $1 no leak is reported: $(tail -n 20 errors)"
    done
    expect_contains "$compiler: the leak with $1" errors "1234 byte"
}

for compiler in gcc clang; do
    rm -f leaks
    $compiler -O1 -fno-inline -w -fsanitize=address -o leaks leaks.c 2>build.errors || continue
    ! ./leaks 2>plain && grep -q '1234 byte' plain || continue # not under ptrace
    for options in cpu:1000 cpu:10000,engine=perf; do
        leak_is_reported "$options"
    done
    tried="$tried leak-$compiler"
done
[ -n "$tried" ] || skip "no compiler has a sanitizer here"
echo "ok:$tried"
