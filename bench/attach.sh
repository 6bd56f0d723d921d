#!/bin/sh
# SPDX-License-Identifier: MIT
#
# attach: malloc and a lock in a process into which the library is loaded while it runs.
#
#   on      while heap, block and mutex are recorded, over before
#   after   after the end of the attachment, over before; the median over processes

set -eu

case $BENCH in
quick) processes=5 ;;
*) processes=31 ;;
esac

mkdir -m 700 "$WORK/run"
: >"$WORK/attach.times"
process=0
while [ $process -lt $processes ]; do
    XDG_RUNTIME_DIR=$WORK/run "$PROGRAMS/attach" "${LIBRARY%/*}/libpprof-attach.so" 1 |
        sed "s/^/$process /" >>"$WORK/attach.times"
    process=$((process + 1))
done

# shellcheck disable=SC2016 # awk's $
awk "$(cat "$(dirname "$0")/statistics.awk")"'
    { time[$1, $2] = $3; processes = $1 + 1 }
    function ratio(workload, when,    i, list) {
        for (i = 1; i <= processes; i++)
            list[i] = time[i - 1, workload "_" when] / time[i - 1, workload "_before"]
        printf "attach.%s_%s.pprof %.3f x", workload, when, median(list, processes)
        printf " # %.3f .. %.3f\n", list[int(processes / 4) + 1], list[processes - int(processes / 4)]
    }
    END {
        ratio("malloc", "on")
        ratio("malloc", "after")
        ratio("mutex", "on")
        ratio("mutex", "after")
    }' "$WORK/attach.times"
