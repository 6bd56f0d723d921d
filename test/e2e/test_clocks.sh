#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
#
# test_clocks.sh: programs whose clocks are not the kernel's: one that is forbidden the processor's counter, and those
# that libfaketime tells another time.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc
kinds=cpu:1000,heap:4096,block,mutex,thread,fd

# sampled RAW NAME: the weight of the function, and of time in which the machine had no tick for it: a virtual machine that stands
# still at the function's end takes that from its samples.
sampled() {
    sampled_weight=$(weight_with "$1" "$2")
    expect_at_least "weight of $2 in $1" 1 "$sampled_weight"
    echo $((sampled_weight + $(weight_with "$1" pprof_lost_samples)))
}

for way in prctl syscall thread; do
    [ "$(status timeout -s KILL 60 "$victims/forbidden_counter" $way)" != 77 ] || continue
    expect_equal "status of forbidden_counter $way" 42 "$(status timeout -s KILL 60 env \
        LIBPPROF="$kinds,file=$work/$way.%k.pb.gz" LD_PRELOAD="$library" "$victims/forbidden_counter" $way)"
    raw $way.cpu.pb.gz
    expect_at_least "weight of counterless_work, $way" 150 "$(sampled $way.cpu.pb.gz.raw counterless_work)"
done

# ---- libfaketime

fake=$(find /usr/lib /usr/lib64 /lib -name libfaketime.so.1 2>/dev/null | head -n 1)
! is_musl "$library" || fake= # the distribution's is for glibc
[ -n "$fake" ] || {
    echo "ok, without libfaketime"
    exit 0
}
export FAKETIME='@2020-01-01 00:00:00' TZ=UTC
cat >year.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile double sink;
__attribute__((noinline)) void faked_work(void)
{
    for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;) {
        free(malloc(1000));
        for (int i = 0; i < 10000; i++) {
            sink += i;
        }
    }
}
int main(void)
{
    time_t now = time(NULL);
    faked_work();
    printf("%d\n", gmtime(&now)->tm_year + 1900);
    return 42;
}
C
cc -O1 -g -o year year.c
run() { # OUTPUT ERRORS COMMAND...: exits with 42
    run_output=$1 run_errors=$2 run_status=0
    shift 2
    "$@" >"$run_output" 2>"$run_errors" || run_status=$?
    expect_equal "status of $*, which says $(cat "$run_errors")" 42 $run_status
}
run plain plain.errors env LD_PRELOAD="$fake" ./year
expect_equal "year" 2020 "$(cat plain)"
for list in "$library $fake" "$fake $library"; do
    for kinds in '' thread cpu:1000,heap:4096,block,mutex,thread,fd; do
        rm -f f.*.pb.gz
        run out errors env LIBPPROF="${kinds:+$kinds,file=$work/f.%k.pb.gz}" LD_PRELOAD="$list" ./year
        cmp plain out || fail "year has another output with $list"
        expect_equal "messages of year, $list, $kinds" "$(cat plain.errors)" "$(cat errors)"
    done
    raw f.cpu.pb.gz
    expect_at_least "weight of faked_work, $list" 150 "$(sampled f.cpu.pb.gz.raw faked_work)"
    # A profile tells the time that it was taken at.
    ! grep -q '^Time: 2020' f.cpu.pb.gz.raw || fail "the profile's time is libfaketime's"
done
echo ok
