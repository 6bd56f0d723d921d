#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_musl.sh: what is different with musl: stacks through a libc without unwind tables, a calloc that calls malloc, locks of
# another layout, threads with small stacks, and names of functions that musl lacks.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
is_musl "$library" || skip "this build is not for musl"
need go readelf nm

# ---- stacks through libc ----

# qsort and snprintf call back, or compute for long, in code without CFI.
cat >through.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sink;
static int compare(const void *a, const void *b)
{
    for (int i = 0; i < 20; i++) sink += (unsigned long)i;
    return *(const int *)a - *(const int *)b;
}
static double used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
static void sort(void)
{
    static int numbers[4000];
    for (double end = used() + 0.3; used() < end;) {
        for (int i = 0; i < 4000; i++) numbers[i] = rand();
        qsort(numbers, 4000, sizeof *numbers, compare);
    }
}
static void print(void)
{
    char text[64];
    for (double end = used() + 0.3; used() < end;)
        for (int i = 0; i < 1000; i++) sink += (unsigned long)snprintf(text, sizeof text, "%d %g", i, i / 3.0);
}
int main(void)
{
    sort();
    print();
    return 0;
}
C
cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -o through through.c
record through.pb.gz ./through
expect_whole through.pb.gz
expect_near "sorting" 300 "$(weight_with through.pb.gz.raw sort main)" 60
expect_near "printing" 300 "$(weight_with through.pb.gz.raw print main)" 60
expect_at_least "compared below qsort" 50 "$(weight_with through.pb.gz.raw compare sort main)"
guessed=$(comments through.pb.gz.raw | sed -n 's/.* \([0-9]*\) reached the end by a guess.*/\1/p')
expect_at_least "stacks without a guess" 97 $((100 - 100 * ${guessed:-0} / $(weight through.pb.gz.raw)))

# The same in a fully static program, where the functions of libc have names.
root=$(dirname "$BUILD")/musl-root
static() { # SOURCE PROGRAM
    cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -static -o "$2" "$1" "$BUILD/lib/libpprof_static.a" \
        -Wl,@"$BUILD/lib/libpprof_static.wrap" -L "$root/lib" -lz
}
static through.c through_static
LIBPPROF="cpu:1000,file=static.pb.gz" ./through_static || fail "status of the static program: $?"
raw static.pb.gz
expect_near "sorting, static" 300 "$(weight_with static.pb.gz.raw sort main)" 60
expect_near "printing, static" 300 "$(weight_with static.pb.gz.raw print main)" 60
expect_at_least "percent of whole stacks, static" 99 "$(ROOTS=libc_start_main_stage2 whole_percent static.pb.gz.raw)"

# ---- threads and locks ----

cat >locks.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t taken, given;
static void wait_for_mutex(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
static void wait_for_recursive(void) { pthread_mutex_lock(&recursive); pthread_mutex_unlock(&recursive); }
static void wait_for_rwlock(void) { pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock); }
static void wait_for_semaphore(void) { sem_wait(&given); }
static void *waits(void *unused)
{
    sem_post(&taken); wait_for_mutex();
    sem_post(&taken); wait_for_recursive();
    sem_post(&taken); wait_for_rwlock();
    sem_post(&taken); wait_for_semaphore();
    return unused;
}
static void pause_a_bit(void) { sem_wait(&taken); usleep(50000); }
static void hold_mutex(void) { pause_a_bit(); pthread_mutex_unlock(&mutex); }
static void hold_recursive(void)
{
    pthread_mutex_lock(&recursive); /* once more: this unlock releases nothing */
    pthread_mutex_unlock(&recursive);
    pause_a_bit();
    pthread_mutex_unlock(&recursive);
}
static void hold_rwlock(void) { pause_a_bit(); pthread_rwlock_unlock(&rwlock); }
int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    sem_init(&taken, 0, 0);
    sem_init(&given, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&recursive);
    pthread_rwlock_wrlock(&rwlock);
    if (pthread_create(&thread, NULL, waits, NULL) != 0) return 1;
    hold_mutex();
    hold_recursive();
    hold_rwlock();
    pause_a_bit();
    sem_post(&given);
    struct timespec soon = {0};
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &soon);
    return pthread_join(thread, NULL);
}
C
cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -o locks locks.c
static locks.c locks_static
for program in locks locks_static; do
    if [ $program = locks ]; then
        preload "block:1,mutex:1,file=$work/%e.%k.pb.gz" ./locks || fail "locks: $?"
    else
        LIBPPROF="block:1,mutex:1,file=$work/%e.%k.pb.gz" ./locks_static || fail "locks_static: $?"
    fi
    raw $program.block.pb.gz
    raw $program.mutex.pb.gz
    for pair in mutex:pthread_mutex recursive:pthread_mutex rwlock:pthread_rwlock; do
        lock=${pair%:*} function=${pair#*:}
        waiter=${function}_lock
        [ $lock != rwlock ] || waiter=${function}_rdlock
        expect_equal "waits for the $lock, $program" 1 \
            "$(weight_directly $program.block.pb.gz.raw $waiter wait_for_$lock waits)"
        expect_equal "holds of the $lock, $program" 1 \
            "$(weight_directly $program.mutex.pb.gz.raw ${function}_unlock hold_$lock main)"
    done
    expect_equal "waits for the semaphore, $program" 1 \
        "$(weight_directly $program.block.pb.gz.raw sem_wait wait_for_semaphore waits)"
    expect_equal "waits for the condition, $program" 1 \
        "$(weight_directly $program.block.pb.gz.raw pthread_cond_timedwait main)"
done

# ---- the heap ----

cat >blocks.c <<'C'
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static void zeroed(void) { kept = calloc(10, 100); }
static void aligned(void) { void *p = NULL; if (posix_memalign(&p, 64, 1000) == 0) kept = p; }
static void copied(void) { kept = strdup("123456789"); }
static void resized(void) { kept = reallocarray(NULL, 10, 100); }
int main(void)
{
    for (int i = 0; i < 100; i++) { zeroed(); aligned(); copied(); resized(); }
    return 0;
}
C
cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -o blocks blocks.c
preload "heap:1,file=heap.pb.gz" ./blocks
static blocks.c blocks_static
LIBPPROF="heap:1,file=heap_static.pb.gz" ./blocks_static
for profile in heap heap_static; do
    raw $profile.pb.gz
    for function in zeroed aligned resized; do
        expect_equal "blocks of $function, $profile" "100 100000 100 100000" \
            "$(blocks_of $profile.pb.gz.raw $function main)"
    done
    expect_equal "blocks of strdup, $profile" "100 1000 100 1000" "$(blocks_of $profile.pb.gz.raw strdup copied main)"
done

# ---- signals that musl keeps for itself ----

# The first timer with a thread sets signal 32 to its default action, which would end the process at the next sample.
cat >timer.c <<'C'
#include <semaphore.h>
#include <signal.h>
#include <time.h>
static sem_t ticks;
static volatile unsigned long sink;
static void tick(union sigval unused) { (void)unused; sem_post(&ticks); }
static void compute(void)
{
    for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
        for (int i = 0; i < 1000; i++) sink += (unsigned long)i;
}
int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    const struct itimerspec often = {{0, 10000000}, {0, 10000000}};
    timer_t timer;
    sem_init(&ticks, 0, 0);
    compute();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0) return 1;
    compute();
    for (int i = 0; i < 3; i++) sem_wait(&ticks);
    return 0;
}
C
cc -O1 -fno-inline -D_GNU_SOURCE -o timer timer.c
record timer.pb.gz ./timer || fail "a program whose timers have threads: $?"
raw timer.pb.gz
expect_at_least "computing beside timers with threads" 340 "$(weight_with timer.pb.gz.raw compute main)"

# ---- what musl lacks ----

# A program that looks for a function of glibc's, or of an allocator's, does not find ours.
nm -D --defined-only "$library" | awk '{ print $3 }' >exports
for name in pthread_cond_clockwait execveat mallocx je_malloc __open_2 pvalloc; do
    ! grep -qx "$name" exports || fail "the library shows $name, which musl does not have"
done
for name in malloc pthread_create pthread_mutex_lock sem_wait; do
    grep -qx "$name" exports || fail "the library does not show $name"
done

# ---- a process that runs already ----

cat >sleeper.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char byte;
    puts("ready");
    fflush(stdout);
    return read(0, &byte, 1) == 0 ? 0 : 1;
}
C
cc -O1 -o sleeper sleeper.c
guest ./sleeper
wait_until has_line guest.out ready
"$BUILD/bin/cpprof" record -d 1 -e thread -o attached.pb.gz -p "$guest" >attaching 2>&1 || fail "attach: $(cat attaching)"
raw attached.pb.gz
expect_equal "threads" 1 "$(weight_with attached.pb.gz.raw read main)"
"$BUILD/bin/cpprof" dump -p "$guest" >dump || fail "dump: $?"
for function in read main; do
    expect_contains "the dump" dump "$function("
done
ends_with 0 "$guest"
echo ok
