#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutex: lock and unlock with the block and mutex profiles off and on, as ratios to libc's own; and the
# throughput of threads that fight for a lock.
#
#   X_pair       a program that was built as compilers do by default, bare and with libpprof preloaded
#   X_pair_got   the same with -fno-plt

set -eu

case $BENCH in
quick) rounds=5 ;;
*) rounds=41 ;;
esac

# run_variant PROGRAM NAME VARIABLE=VALUE...: appends "PROGRAM NAME WORKLOAD NANOSECONDS".
run_variant() {
    prefix="$1 $2"
    program=$1
    shift 2
    env "$@" "$PROGRAMS/$program" mutex read write spin semaphore | sed "s/^/$prefix /" \
        >>"$WORK/locks.times"
}

: >"$WORK/locks.times"
round=0
while [ $round -lt $rounds ]; do
    for program in lock_pair lock_pair_got; do
        run_variant "$program" bare NONE=
        run_variant "$program" off "LD_PRELOAD=$LIBRARY"
        run_variant "$program" on "LD_PRELOAD=$LIBRARY" "LIBPPROF=block:1,mutex:1,file=$WORK/locks.%k.pb.gz"
    done
    round=$((round + 1))
done

# shellcheck disable=SC2016 # awk's $
awk "$(cat "$(dirname "$0")/statistics.awk")"'
    function name(program, workload) {
        sub(/^lock_/, "", program)
        return "mutex." workload "_" program
    }
    # Median of the ratios of the variant to the bare program, round by round; the middle half beside it.
    function ratio(program, variant, workload,    i, n, list) {
        n = count[program, variant, workload]
        for (i = 1; i <= n; i++)
            list[i] = time[program, variant, workload, i] / time[program, "bare", workload, i]
        printf "%s_%s.pprof %.3f x", name(program, workload), variant, median(list, n)
        printf " # %.3f .. %.3f\n", list[int(n / 4) + 1], list[n - int(n / 4)]
    }
    {
        n = ++count[$1, $2, $3]
        time[$1, $2, $3, n] = $4
        if (!(($1, $3) in seen)) { seen[$1, $3]; programs[++pairs] = $1; workloads[pairs] = $3 }
    }
    END {
        for (p = 1; p <= pairs; p++) {
            n = count[programs[p], "bare", workloads[p]]
            for (i = 1; i <= n; i++) bare[i] = time[programs[p], "bare", workloads[p], i]
            printf "%s.glibc %.2f ns\n", name(programs[p], workloads[p]), median(bare, n)
            ratio(programs[p], "off", workloads[p])
            ratio(programs[p], "on", workloads[p])
        }
    }' "$WORK/locks.times"

"$PROGRAMS/mutex"
