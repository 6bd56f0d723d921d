#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cpu_accuracy: does the profile add up to what the kernel says that the process used?
#
#   total    burn in 1, 2, 4 and 16 threads, at 100 and 1000 Hz: profile / getrusage, in percent
#   short    200 threads a second of 3 ms each
#   perf     both at 10 kHz by the engine `perf`, and what was lost, in percent of the same
#   split    two functions that are each half of the work, many runs at 100 Hz: what the profile says
#            minus what the thread's CPU clock says of the first, in percentage points:
#              mean     over the runs
#              error    its standard error, from the spread of the runs
#              sigmas   |mean| / error
#              worst    the run that is farthest off, in standard deviations of a binomial distribution
#                       of as many samples as 100 Hz should give

set -eu
# shellcheck disable=SC1091 # profilers.sh is checked by itself
. "${0%/*}/profilers.sh"

if ! have_go; then
    echo "# not installed: go (go tool pprof reads the profiles), cpu_accuracy is left out"
    exit 0
fi
have_gperftools || echo "# not installed: gperftools (libprofiler.so.0)"

if [ "$BENCH" = quick ]; then
    counts="1 4 16" burn_s=6 short_s=2 halves_s=1 halves_runs=6
else
    counts="1 2 4 16" burn_s=10 short_s=5 halves_s=2 halves_runs=20
fi

# percent NAME: profile / what the victim printed.
percent() {
    used=$(sed -n 's/^cpu_ns //p' "$WORK/stdout")
    awk -v name="$1" -v profile="$(profile_ns)" -v used="$used" \
        'BEGIN { printf "%s %.4g %% # %.4g of %.4g s\n", name, profile / used * 100,
                 profile / 1e9, used / 1e9 }'
}

for hz in 100 1000; do
    for threads in $counts; do
        for profiler in $(profilers); do
            profiled "$profiler" "$hz" "$PROGRAMS/burn" "$threads" $burn_s >"$WORK/stdout"
            percent "cpu_accuracy.total_${threads}_threads_${hz}hz.$profiler"
        done
    done
    for profiler in $(profilers); do
        profiled "$profiler" "$hz" "$PROGRAMS/short_threads" 200 3 $short_s >"$WORK/stdout"
        percent "cpu_accuracy.short_threads_${hz}hz.$profiler"
    done
done

# perf NAME COMMAND...: the same at 10 kHz by perf events.
perf() {
    perf_name=$1
    shift
    profiled pprof_perf 10000 "$@" >"$WORK/stdout"
    if comments | grep -q 'engine perf was refused'; then
        echo "# $(comments | grep 'engine perf was refused')"
        return
    fi
    percent "cpu_accuracy.${perf_name}_10000hz.pprof"
    awk -v name="cpu_accuracy.${perf_name}_10000hz_lost.pprof" -v lost="$(lost_ns)" -v used="$used" \
        'BEGIN { printf "%s %.4g %% # %.0f samples\n", name, lost / used * 100, lost / 100000 }'
}

for threads in $counts; do
    perf "perf_${threads}_threads" "$PROGRAMS/burn" "$threads" $burn_s
done
perf perf_short_threads "$PROGRAMS/short_threads" 200 3 $short_s

# One line a run: what the profile says of the left half, and what it was, in percent. Addresses of the
# same length compare as strings.
split_run() {
    profiled "$1" 100 "$PROGRAMS/halves" $halves_s >"$WORK/stdout"
    samples | awk '
        FNR == NR && $1 == "left"   { left_from = $2; left_to = $3 }
        FNR == NR && $1 == "right"  { right_from = $2; right_to = $3 }
        FNR == NR && $1 == "cpu_ns" { truth = $2 / ($2 + $3) }
        FNR == NR { next }
        $2 >= left_from && $2 < left_to   { left += $1 }
        $2 >= right_from && $2 < right_to { right += $1 }
        END { printf "%.6f %.6f\n", left / (left + right) * 100, truth * 100 }' "$WORK/stdout" -
}

run=0
while [ $run -lt $halves_runs ]; do
    for profiler in $(profilers); do
        split_run "$profiler" >>"$WORK/split.$profiler"
    done
    run=$((run + 1))
done
for profiler in $(profilers); do
    awk -v profiler="$profiler" -v samples=$((halves_s * 100)) '
        {
            off = $1 - $2
            sum += off
            squares += off * off
            if (off < 0) off = -off
            if (off > worst) worst = off
        }
        END {
            mean = sum / NR
            error = sqrt((squares / NR - mean * mean) / (NR - 1))
            name = "cpu_accuracy.split_"
            printf "%smean.%s %.3f %%\n", name, profiler, mean
            printf "%serror.%s %.3f %%\n", name, profiler, error
            printf "%ssigmas.%s %.2f sigma # %d runs\n", name, profiler,
                (mean < 0 ? -mean : mean) / error, NR
            printf "%sworst.%s %.2f sigma\n", name, profiler, worst / (50 / sqrt(samples))
        }' "$WORK/split.$profiler"
done
