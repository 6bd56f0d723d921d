#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_limits.sh: few timers, little address space, foreign process numbers.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc prlimit setpriv

# A quarter of the pending signals is ours: with 24 of them six of thirteen threads have a timer, the
# others are counted, each once, however often we look for new threads.
cat >crowd.c <<'C'
#include "burn.h"
#include <pthread.h>
static pthread_barrier_t all_have_worked; /* a thread that ends would leave its timer to another one */
static void *work_entry(void *unused)
{
    burn_ms(300);
    pthread_barrier_wait(&all_have_worked);
    return unused;
}
int main(void)
{
    pthread_t threads[12];
    pthread_barrier_init(&all_have_worked, NULL, 12);
    for (int i = 0; i < 12; i++) {
        pthread_create(&threads[i], NULL, work_entry, NULL);
    }
    for (int i = 0; i < 12; i++) {
        pthread_join(threads[i], NULL);
    }
    return 42;
}
C
cc -O1 -g -pthread -I "$SRC/test/e2e/victims" -o crowd crowd.c
if [ "$(id -u)" = 0 ]; then
    chmod 777 .
    # The limit is shared by all processes of a user: this one has no others.
    alone() { setpriv --reuid=424242 --regid=424242 --clear-groups prlimit --sigpending=24 "$@"; }
    expect_equal "status with few timers" 42 "$(status alone env \
        LIBPPROF="cpu:1000,file=$work/p.pb.gz" LD_PRELOAD="$(for_everybody "$library")" ./crowd)"
    raw p.pb.gz
    comments p.pb.gz.raw >said
    expect_equal "threads of 13 that are not sampled" 7 "$(sed -n 's/.* \([0-9]*\) threads were not sampled.*/\1/p' said)"
    expect_at_least "weight of five threads beside main" 1450 \
        "$(weight_with p.pb.gz.raw work_entry)"
    expect_equal "status without a timer" 42 "$(status alone prlimit --sigpending=0 env \
        LIBPPROF="cpu:1000,file=$work/z.pb.gz" LD_PRELOAD="$(for_everybody "$library")" ./crowd 2>errors)"
    expect_contains "messages without a timer" errors "ulimit -i"
fi

# Little address space: nearly all that the program has without us, it still has.
cat >greedy.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    size_t blocks = 0;
    while (malloc(1 << 18) != NULL) {
        blocks++;
    }
    printf("%zu\n", blocks);
    return 42;
}
C
cc -O0 -o greedy greedy.c
all=cpu:1000,heap:4096,block,mutex,thread,fd
for kilobytes in 60000 200000; do
    plain=$(sh -c "ulimit -v $kilobytes; ./greedy" || true)
    for kinds in cpu:1000 $all; do
        least=70
        [ $kinds = cpu:1000 ] || [ $kilobytes = 200000 ] || least=60
        found=$(sh -c "ulimit -v $kilobytes; exec env LIBPPROF=$kinds,file=$work/v.pb.gz LD_PRELOAD=$library ./greedy" \
            2>/dev/null || true)
        expect_at_least "quarters of a megabyte under ulimit -v $kilobytes, $kinds, plain $plain" \
            "$(percent "$plain" $least)" "$found"
    done
done
# A program that leaves something has all its profiles.
expect_equal "status under ulimit -v 60000" 42 "$(status sh -c "ulimit -v 60000; exec env \
    LIBPPROF=$all,file=$work/small.%k.pb.gz LD_PRELOAD=$library $victims/ends return" 2>errors)"
expect_equal "messages under ulimit -v 60000" "" "$(cat errors)"
for kind in cpu heap block mutex thread fd; do
    raw small.$kind.pb.gz
done
expect_work "weight of last_work under ulimit -v 60000" 200 "$(weight_with small.cpu.pb.gz.raw last_work)" 25

# What is reserved, and what of it would be in a core dump, or in transparent huge pages, beyond what the program has bare (docs/ADDRESS_SPACE.md).
reserved() { awk '$1 == "VmSize:" { print $2 }' "$1"; }
without() { # FLAG FILE: kilobytes that are writable and do not have it
    awk -v flag="$1" '/^[0-9a-f]+-[0-9a-f]+ / { writable = $2 ~ /^rw/ } $1 == "Size:" { size = $2 }
        $1 == "VmFlags:" && writable && !($0 ~ " " flag "( |$)") { sum += size } END { print sum }' "$2"
}
expect_at_most() { # WHAT MOST FOUND
    [ "$3" -le "$2" ] || fail "$1: expected at most $2, found $3"
}
segments=0
[ "$(uname -m)" != aarch64 ] || segments=400 # those of libraries begin at multiples of 64 KiB
cat /proc/self/status /proc/self/smaps >plain
for row in heap:4096=8400 thread=8400 fd=8500 block=10000 mutex=10000 alloctrace=10000 cpu:1000=87000 $all=92000; do
    kinds=${row%=*}
    preload "$kinds,log=/dev/null,file=$work/r.%k.pb.gz" cat /proc/self/status /proc/self/smaps >found
    expect_at_most "kilobytes reserved by $kinds" $((${row##*=} + segments)) $(($(reserved found) - $(reserved plain)))
    expect_at_most "kilobytes in a core dump by $kinds" 1000 $(($(without dd found) - $(without dd plain)))
    [ ! -e /sys/kernel/mm/transparent_hugepage ] ||
        expect_at_most "kilobytes that may become huge pages by $kinds" 1000 $(($(without nh found) - $(without nh plain)))
done

# A namespace of process numbers whose /proc belongs to another one.
if unshare -p -f true 2>/dev/null; then
    expect_equal "status in a namespace" 42 "$(status unshare -p -f env \
        LIBPPROF="cpu:1000,file=$work/n.pb.gz" LD_PRELOAD="$library" "$victims/ends" return 2>errors)"
    raw n.pb.gz
    expect_work "weight of last_work" 200 "$(weight_with n.pb.gz.raw last_work)" 25
    mkdir threads
    unshare -p -f env LIBPPROF="cpu:1000,file=$work/t.pb.gz" LD_PRELOAD="$library" \
        "$victims/threads" >spent
    raw t.pb.gz
    for name in main posix_entry c11_entry; do
        expect_near "weight of burn_ms in $name" "$(awk -v name=$name '$1 == name { print $2 }' spent)" \
            "$(weight_with t.pb.gz.raw burn_ms $name)" 15
    done
    # The first process of a namespace ignores what it has no handler for.
    unshare -p -f env LIBPPROF="cpu:1000,file=$work/init.pb.gz" LD_PRELOAD="$library" sh -c \
        'kill -TERM $$; exit 42' 2>errors || expect_equal "status of process 1" 42 $?
fi
echo ok
