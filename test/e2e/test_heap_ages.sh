#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_ages.sh: with the option `age` the heap profile says how old blocks are, and its sums are the same.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc timeout

cat >ages.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
void *volatile kept[300];
int count;
__attribute__((noinline)) void keep(void) { kept[count++] = memset(malloc(1000), 1, 1000); }
int main(void)
{
    struct timespec begin, now;
    for (int i = 0; i < 100; i++) { keep(); free(memset(malloc(1000), 1, 1000)); }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do { /* until the first blocks are more than a second old */
        struct timespec pause = {.tv_nsec = 10000000};
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 1100);
    for (int i = 0; i < 200; i++) { keep(); }
    return 0;
}
END
cc -O1 -fno-builtin -o ages ages.c
# objects in use of the samples that have this line after them; blocks of the second loop may be a second old on a busy machine
objects() { # AGES: a regular expression
    awk -v ages="$1" '/^Locations/ { exit }
        /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { objects = $3; next }
        /age:/ && $0 ~ ages { sum += objects } END { print sum + 0 }' ages.pb.gz.raw
}
total() { awk '/^Locations/ { exit } /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { a += $1; i += $3 } END { print a, i }' "$1"; }

timeout 60 env LIBPPROF="heap:1,age,file=$work/ages.pb.gz" LD_PRELOAD="$library" ./ages
raw ages.pb.gz
expect_equal "blocks with an age" 300 "$(objects 'age:[[]')"
expect_at_least "blocks of a second or more" 100 "$(objects 'age:[[]([1-9]|1m)')"
timeout 60 env LIBPPROF="heap:1,file=$work/plain.pb.gz" LD_PRELOAD="$library" ./ages
raw plain.pb.gz
! grep -q 'age:' plain.pb.gz.raw || fail "there are ages that nobody has asked for"
expect_equal "allocated and in use" "$(total plain.pb.gz.raw)" "$(total ages.pb.gz.raw)"
echo ok
