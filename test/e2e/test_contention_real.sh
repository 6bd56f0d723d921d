#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_contention_real.sh: programs and libraries with locks of their own: the same results with the block and
# mutex profiles as without, and stacks that name who waits.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

by_library() {
    by_name=$1
    shift
    preload "block,mutex,file=$work/$by_name.%k.pb.gz" "$@"
}
by_cpprof() {
    by_name=$1
    shift
    "$BUILD/bin/cpprof" record -e block,mutex -o "$by_name.%k.pb.gz" -- "$@"
}

# same NAME COMMAND...: output and status, with and without. $same_by: by_cpprof, or by_library.
same_by=by_library
same() {
    same_name=$1
    shift
    same_plain=0
    "$@" >"$same_name.plain" 2>"$same_name.plain.err" || same_plain=$?
    [ "$same_plain" -ne 77 ] || return 77
    same_found=0
    $same_by "$same_name" "$@" >"$same_name.out" 2>"$same_name.err" || same_found=$?
    expect_equal "status of $same_name" "$same_plain" "$same_found"
    cmp "$same_name.plain" "$same_name.out" >&2 || fail "$same_name has another output"
    expect_equal "messages of $same_name" "$(cat "$same_name.plain.err")" "$(what_it_says "$same_name.err")"
    raw "$same_name.block.pb.gz"
    raw "$same_name.mutex.pb.gz"
    waits=$same_name.block.pb.gz.raw
}

# At least this many percent of the contentions reach the start of a thread or of the program.
expect_roots() { expect_at_least "percent of whole stacks in $1" 99 "$(whole_percent "$1")"; }

waits_in() { # FUNCTION...: one of them was waited in
    for function in "$@"; do
        [ "$(weight_with "$waits" "$function")" -eq 0 ] || return 0
    done
    fail "no wait in $* in $waits: $(stacks "$waits" | head -n 20)"
}

# ---- C++: a pool of threads ----

use_pool() {
    same pool "$victims/contention_pool"
    expect_roots "$waits"
    waits_in pthread_cond_wait
    waits_in pthread_join
    expect_at_least "waits for the start" 1 "$(weight_with "$waits" syscall wait_for_start)"
    stacks "$waits" | grep -q 'pool::take_job' || fail "nobody waits for jobs: $(stacks "$waits" | head)"
}
attempts 5 use_pool

for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    if LD_PRELOAD=$allocator "$victims/contention_pool" 2>&1 >allocator.out | grep -q .; then
        continue # not installed
    fi
    preload_library=$library
    library="$library $allocator"
    same "pool_$allocator" "$victims/contention_pool"
    library=$preload_library
    waits_in pthread_cond_wait
done

# ---- libraries ----

use_sqlite() {
    same sqlite "$victims/contention_libraries" sqlite || return 0
    expect_roots "$waits"
    waits_in pthread_mutex_lock
}

use_glib() {
    same glib "$victims/contention_libraries" glib || return 0
    expect_roots "$waits"
    stacks "$waits" | grep -q 'take_numbers' || fail "nobody waits in g_async_queue_pop"
}

# Whether anybody has to wait is up to the scheduler.
attempts 5 use_sqlite
attempts 5 use_glib

# ---- programs ----

if command -v xz >/dev/null; then
    seq 1 400000 >numbers
    same_by=by_cpprof # from 5.6 on it gives up the right to write files
    same xz xz -T 4 --block-size=256KiB -c numbers
    waits_in pthread_cond_wait pthread_cond_timedwait
    cp xz.plain numbers.xz
    same unxz xz -d -T 4 -c numbers.xz
    same_by=by_library
fi
if command -v sqlite3 >/dev/null; then
    same sqlite3 sqlite3 :memory: "with recursive c(n) as (select 1 union all select n + 1 from c where n < 50000) select sum(n) from c"
fi
if python=$(command -v /usr/bin/python3); then
    cat >threads.py <<'PY'
import threading, queue
q = queue.Queue(10)
total = []
def work():
    s = 0
    while (n := q.get()) is not None:
        s += n
    total.append(s)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for n in range(5000): q.put(n)
for t in threads: q.put(None)
for t in threads: t.join()
print(sum(total))
PY
    same python "$python" threads.py
    waits_in sem_wait sem_timedwait sem_clockwait pthread_cond_wait pthread_cond_timedwait
fi
