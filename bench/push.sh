#!/bin/sh
# SPDX-License-Identifier: MIT
#
# push: what push= costs a redis-server under load that records cpu, heap, block, mutex and thread, with a server that takes
# all.
#
#   cpu       CPU time of the thread for one interval, over the 15 seconds that an interval has: percent of a processor
#   memory    resident memory over that of the same server without push=, after the measured time
#   private   the part of it that no other process shares
#
# The interval is a second here, so that there are many.

set -eu
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || {
    echo "# push: redis-server and redis-benchmark are not installed"
    exit 0
}
[ -e "${LIBRARY%/*}/libpprof-push.so.0" ] || {
    echo "# push: libpprof-push is not built"
    exit 0
}
case $BENCH in
quick) seconds=10 ;;
*) seconds=40 ;;
esac
kinds=cpu,heap,block,mutex,thread

processes=
end() {
    for process in $processes; do
        kill "$process" 2>/dev/null || true
    done
}
trap end EXIT
trap 'exit 130' INT TERM
wait_for() { # COMMAND...
    for _ in $(seq 300); do
        ! "$@" || return 0
        sleep 0.1
    done
    echo "# push: waited 30 seconds for: $*"
    exit 0
}

python3 "${0%/*}/../test/e2e/fleet/receiver.py" --as pyroscope --store "$WORK/store" >"$WORK/port" &
processes=$!
wait_for grep -q 'port ' "$WORK/port"
url=http://127.0.0.1:$(sed -n 's/^port //p' "$WORK/port")

# serve NAME OPTIONS: $served is the process.
serve() {
    env LIBPPROF="$2" LD_PRELOAD="$LIBRARY" redis-server --port 0 --unixsocket "$WORK/$1" --save "" >"$WORK/$1.out" 2>&1 &
    served=$!
    processes="$processes $served"
    wait_for test -S "$WORK/$1"
}
serve bare "$kinds,file=$WORK/%k.pb.gz"
bare=$served
serve pushing "$kinds,push=$url,push-to=pyroscope,interval=1s,service=bench"
pushing=$served
for one in bare pushing; do
    redis-benchmark -s "$WORK/$one" -t set,get,lpush,lrange_100 -n 1000000000 -c 20 -r 10000 >/dev/null 2>&1 &
    processes="$processes $!"
done

# The nanoseconds of CPU time of the thread until now.
used() {
    for task in /proc/"$pushing"/task/*; do
        [ "$(cat "$task/comm")" != libpprof-push ] || cut -d' ' -f1 "$task/schedstat"
    done
}
intervals() {
    grep -c '"__name__": "goroutine"' "$WORK/store/received.jsonl"
}
kilobytes() { # PROCESS FIELD...
    file=/proc/$1/smaps_rollup
    shift
    for field in "$@"; do
        sed -n "s/^$field: *\([0-9]*\) kB/\1/p" "$file"
    done | awk '{ sum += $1 } END { print sum }'
}
has_begun() {
    [ -e "$WORK/store/received.jsonl" ] && [ "$(intervals)" -ge 2 ]
}
wait_for has_begun
first=$(used) before=$(intervals)
sleep "$seconds"
last=$(used) after=$(intervals)
echo "$first $last $before $after" | awk '$4 > $3 {
    ms = ($2 - $1) / ($4 - $3) / 1e6
    printf "push.interval.pprof %.2f ms\npush.cpu.pprof %.4f %%\n", ms, ms / 15000 * 100 }'
echo "$(kilobytes "$bare" Rss) $(kilobytes "$pushing" Rss)" | awk '{ printf "push.memory.pprof %.2f MB\n", ($2 - $1) / 1000 }'
echo "$(kilobytes "$bare" Private_Clean Private_Dirty) $(kilobytes "$pushing" Private_Clean Private_Dirty)" |
    awk '{ printf "push.private.pprof %.2f MB\n", ($2 - $1) / 1000 }'
wc -c "$WORK"/store/*.pb | awk 'END { printf "# push: %.0f bytes of profiles without gzip in a second\n", $1 / NR }'
