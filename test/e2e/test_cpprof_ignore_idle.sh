#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_ignore_idle.sh: --ignore-idle leaves out of a real wall-clock profile the threads that wait for work, keeps
# those that wait for each other, and says how much it leaves out, in reports, files and pages.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc python3
cpprof=$BUILD/bin/cpprof

cat >idle.c <<'EOC'
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static volatile int jobs;
__attribute__((noinline)) static void *pool_worker(void *unused)
{
    pthread_mutex_lock(&queue);
    while (!jobs) {
        pthread_cond_wait(&work, &queue);
    }
    pthread_mutex_unlock(&queue);
    return unused;
}
__attribute__((noinline)) static void *event_loop(void *unused)
{
    struct epoll_event event;
    epoll_wait(epoll_create1(0), &event, 1, 1000);
    return unused;
}
__attribute__((noinline)) static void *lock_waiter(void *unused)
{
    pthread_mutex_lock(&taken);
    pthread_mutex_unlock(&taken);
    return unused;
}
int main(void)
{
    void *(*const begins[])(void *) = {pool_worker, pool_worker, event_loop, lock_waiter};
    pthread_t threads[4];
    pthread_mutex_lock(&taken);
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], 0, begins[i], 0);
    }
    sleep(1);
    pthread_mutex_unlock(&taken);
    pthread_mutex_lock(&queue);
    jobs = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&queue);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
EOC
cc -O1 -fno-optimize-sibling-calls -o idle idle.c -lpthread
"$cpprof" record --no-subprocesses -e wall -o w.pb.gz ./idle 2>err || fail "$(cat err)"

functions() { "$cpprof" top -n 0 --json "$@" w.pb.gz 2>err |
    python3 -c 'import json, sys; [print(r["name"]) for r in json.load(sys.stdin)["rows"] if r["cum"] > 3e8]'; }
functions >all
for function in pool_worker event_loop lock_waiter main; do
    expect_contains "the whole profile" all "$function"
done
functions --ignore-idle >busy
for function in lock_waiter main; do
    expect_contains "what is left" busy "$function"
done
for function in pool_worker event_loop; do
    ! grep -q "$function" busy || fail "$function is left: $(cat busy)"
done
grep -q '^cpprof: --ignore-idle leaves out [2-9][0-9.]*s, [0-9.]*% of [0-9.]*s$' err || fail "how much is left out: $(cat err)"
for verb in top tree "peek main" traces tags raw; do
    # shellcheck disable=SC2086 # words
    "$cpprof" $verb --ignore-idle w.pb.gz >out 2>err || fail "$verb: $(cat err)"
    expect_contains "$verb" err "--ignore-idle leaves out "
    [ "$verb" = raw ] || ! grep -q pthread_cond_wait out || fail "$verb shows waits for work: $(cat out)"
done

# What is written is without them, and says so.
"$cpprof" convert --ignore-idle -o rest.pb.gz w.pb.gz 2>err || fail "$(cat err)"
"$cpprof" top rest.pb.gz >out 2>err || fail "$(cat err)"
expect_contains "a file" out "--ignore-idle leaves out "
"$cpprof" flame --ignore-idle -o page.html w.pb.gz >out 2>err || fail "$(cat err)"
expect_contains "a page" err "--ignore-idle leaves out "

"$cpprof" record -e cpu -o cpu.pb.gz ./idle 2>/dev/null || fail "no profile"
"$cpprof" top --ignore-idle cpu.pb.gz >out 2>err || fail "$(cat err)"
expect_contains "another kind" err "--ignore-idle is for wall-clock profiles"
echo ok
