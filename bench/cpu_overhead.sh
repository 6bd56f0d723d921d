#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cpu_overhead: what a profile takes from its host, in percent of its CPU time and of its wall time.
#
#   work, xz, sqlite3   whole processes, profiled or not, in turns; start-up and writing the profile
#                       included (xz and sqlite3 with BENCH=long)
#   slices              within one process, a running profiler against a stopped one: resolves far
#                       smaller differences, start and stop are left out
#
# Each line ends with the 95 % confidence interval of its median.

set -eu
# shellcheck disable=SC1091 # profilers.sh is checked by itself
. "${0%/*}/profilers.sh"

have_gperftools || echo "# not installed: gperftools (libprofiler.so.0)"

case $BENCH in
quick) rounds=15 work_rounds=120 slice_pairs=30 slice_rounds=25 ;;
*) rounds=21 work_rounds=400 slice_pairs=101 slice_rounds=50 ;;
esac

# process_pairs NAME COMMAND...: all profilers at both rates against nothing.
process_pairs() {
    name=$1
    shift
    set -- "$@" --
    variants=
    for profiler in pprof gperftools; do
        [ $profiler = pprof ] || have_gperftools || continue
        for hz in 100 1000; do
            variants="$variants $profiler:$hz"
        done
    done
    # The arguments of pairs: "none COMMAND... -- pprof:100 VARIABLE=... COMMAND... -- ..."
    command=$*
    arguments="none $command"
    for variant in $variants; do
        profiler=${variant%:*} hz=${variant#*:}
        arguments="$arguments ${hz}hz.$profiler"
        arguments="$arguments $(environment "$profiler" "$hz" "$WORK/overhead.$profiler") $command"
    done
    # shellcheck disable=SC2086 # a list of words without blanks
    "$PROGRAMS/pairs" -n $rounds -m cpu,wall $arguments >"$WORK/pairs"
    awk -v name="$name" '{
        split($1, part, ".")    # 100hz.pprof.cpu
        printf "cpu_overhead.%s_%s_%s.%s %s %s # %s .. %s\n", name, part[3], part[1], part[2],
            $2, $3, $4, $5
    }' "$WORK/pairs"
}

process_pairs work "$PROGRAMS/work" $work_rounds

if [ "$BENCH" = long ]; then
    if command -v xz >/dev/null 2>&1; then
        # Always the same bytes: numbers compress neither well nor badly.
        awk 'BEGIN { for (i = 0; i < 1000000; i++) print i * 7919 % 1000003, i }' >"$WORK/numbers"
        process_pairs xz "$(command -v xz)" -4 -T1 -k -c "$WORK/numbers"
    else
        echo "# not installed: xz"
    fi
    if command -v sqlite3 >/dev/null 2>&1; then
        cat >"$WORK/query.sql" <<'SQL'
CREATE TABLE t(a INTEGER, b INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700000)
  INSERT INTO t SELECT i, i * 7919 % 1000003 FROM n;
CREATE INDEX t_b ON t(b);
SELECT count(*), sum(x.a) FROM t x JOIN t y ON x.b = y.a;
SQL
        process_pairs sqlite3 "$(command -v sqlite3)" -init "$WORK/query.sql" :memory: .exit
    else
        echo "# not installed: sqlite3"
    fi
fi

for hz in 100 1000; do
    for profiler in pprof gperftools; do
        program=$PROGRAMS/slices_$profiler
        [ -x "$program" ] || continue
        CPUPROFILE_FREQUENCY=$hz "$program" $hz $slice_pairs $slice_rounds 2>/dev/null |
            awk '{ printf "%s %s %s # %s .. %s\n", $1, $2, $3, $4, $5 }'
    done
done
