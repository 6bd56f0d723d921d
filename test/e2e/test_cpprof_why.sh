#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 200
#
# test_cpprof_why.sh: `cpprof why` says on one page of a running process what it does, what it waits for, who holds the locks, and
# what grows; of one that was started without the library, of one with a control socket, and of a server.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc
cpprof=$BUILD/bin/cpprof
lock=pthread_mutex_lock type=PTHREAD_MUTEX_NORMAL
# Which jumps to its timed form there, and of a mutex of the normal kind nobody knows who holds it.
! is_musl "$library" || lock=pthread_mutex_timedlock type=PTHREAD_MUTEX_ERRORCHECK
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

cat >guest.c <<'EOC'
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
static pthread_mutex_t a, b, queue = PTHREAD_MUTEX_INITIALIZER, shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
void *volatile kept;
static volatile unsigned long turns;
__attribute__((noinline)) static void burns(void) { for (int i = 0; i < 1000000; i++) turns++; }
__attribute__((noinline)) static void grows(void) { kept = malloc(10000); }
__attribute__((noinline)) static void *holds(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&shared);
        burns();
        usleep(2000);
        pthread_mutex_unlock(&shared);
        grows();
        usleep(500);
    }
    return unused;
}
__attribute__((noinline)) static void *wants(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&shared);
        pthread_mutex_unlock(&shared);
        usleep(500);
    }
    return unused;
}
__attribute__((noinline)) static void *locks_a(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&b);
    return unused;
}
__attribute__((noinline)) static void *locks_b(void *unused)
{
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&a);
    return unused;
}
__attribute__((noinline)) static void *pool(void *unused)
{
    pthread_mutex_lock(&queue);
    for (;;) {
        pthread_cond_wait(&work, &queue);
    }
    return unused;
}
int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, TYPE);
    pthread_mutex_init(&a, &attributes);
    pthread_mutex_init(&b, &attributes);
    void *(*const begins[])(void *) = {holds, wants, wants, locks_a, locks_b, pool, pool, pool};
    struct epoll_event event;
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, begins[i], 0);
    }
    write(1, "\n", 1);
    for (int epoll = epoll_create1(0);;) {
        epoll_wait(epoll, &event, 1, -1);
    }
}
EOC
cc -O1 -D_GNU_SOURCE -DTYPE=$type -fno-optimize-sibling-calls -o guest guest.c -lpthread

# start [VARIABLE=VALUE...]: $guest is the process.
start() {
    rm -f guest.out
    env "$@" ./guest >guest.out &
    guest=$!
    started="$started $guest"
    is_up() { [ -s guest.out ]; }
    wait_until is_up
}
why() {
    "$cpprof" why -d 2 "$@" >out 2>err || fail "why $*: $(cat err)"
    [ "$(wc -l <out)" -le 80 ] || fail "more than a page: $(cat out)"
    ! grep -q '0x[0-9a-f]' out || fail "addresses: $(cat out)"
    # section NAME: the lines below a heading.
    section() { sed -n "/^$1/,/^\$/p" out; }
    section "What it waits for" | grep -q " lock  *$lock < locks_a\$" || fail "a wait: $(cat out)"
    ! section "What it waits for" | grep -q 'pool\|epoll' || fail "idle threads are waits: $(cat out)"
    section "Who holds what" | grep -q '  deadlock: 2 threads wait for each other$' || fail "the deadlock: $(cat out)"
    section "Who holds what" | grep -q 's  pthread_mutex_unlock < holds$' || fail "the holder: $(cat out)"
    section "What it does" | grep -q ' burns < holds$' || fail "what runs: $(cat out)"
    # Three of the pool, and the first.
    idle=$(sed -n 's/^Threads, on average: .* waited, \([0-9.]*\) were$/\1/p' out)
    expect_near "idle threads" 4 "$idle" 0.4
    # No thread of libpprof is among them.
    all=$(sed -n 's/^Threads, on average: \([0-9.]*\) ran, \([0-9.]*\) wanted .*, \([0-9.]*\) waited, \([0-9.]*\) were$/\1 \2 \3 \4/p' out |
        awk '{ print $1 + $2 + $3 + $4 }')
    expect_near "all threads" 9 "$all" 0.5
}

start
why -p "$guest"
expect_contains "the process" out "process $guest ./guest"
section "What grows" | grep -q "cpprof configure $guest heap" || fail "a heap that is not recorded: $(cat out)"
kill "$guest"

start LD_PRELOAD="$library" LIBPPROF="control,heap:1,http=unix:$work/http.sock"
why -p "$guest"
section "What grows" | grep -q 'B  grows < holds$' || fail "what grows: $(cat out)"
why "unix:$work/http.sock"
section "What grows" | grep -q 'B  grows < holds$' || fail "what grows: $(cat out)"
kill "$guest"

expect_equal "status without a process" 2 "$(status "$cpprof" why 2>err)"
expect_equal "status with a file" 2 "$(status "$cpprof" why file.pb.gz 2>err)"
expect_equal "status with no time" 2 "$(status "$cpprof" why -p 1 -d 0 2>err)"
expect_equal "status of a server that is not there" 1 "$(status "$cpprof" why -d 1 "unix:$work/nobody.sock" 2>err)"
echo ok
