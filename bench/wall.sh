#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wall: the wall-clock profile: what 1000 idle threads cost at 20 looks a second, how exact its sum is, and what a
# redis-server loses.
#
#   idle_1000     CPU time of the process over a bare one, in percent of one processor
#   total_N       the time of N threads in the profile over the time that they lived
#   redis_get     requests of redis-benchmark in a second, over those of a bare server; the median of pairs

set -eu

case $BENCH in
quick) ms=5000 pairs=5 requests=100000 ;;
*) ms=20000 pairs=21 requests=400000 ;;
esac

with_wall() {
    env LIBPPROF="wall,file=$WORK/wall.pb.gz" LD_PRELOAD="$LIBRARY" "$@"
}

bare=$("$PROGRAMS/wall" idle 1000 $ms)
with_wall "$PROGRAMS/wall" idle 1000 $ms | awk -v bare="$bare" '{ printf "wall.idle_1000.pprof %.3f %%\n", $1 - bare }'

for threads in 1 50; do
    lived=$(with_wall "$PROGRAMS/wall" mixed $threads $ms)
    "${PROGRAMS%/*}/bin/cpprof" raw "$WORK/wall.pb.gz" | awk -v lived="$lived" -v threads=$threads '
        /^Samples:/ { part = 1; next }
        /^Locations/ { part = 2; next }
        /^Mappings/ { part = 3 }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { n++; ns[n] = $2; sub(/:/, "", ns[n]); $1 = $2 = ""; ids[n] = $0 }
        part == 2 && ($4 == "run_and_sleep" || $4 == "pprof_unseen_waits") { sub(/:/, "", $1); is[$1] }
        END {
            for (i = 1; i <= n; i++) {
                count = split(ids[i], list, " ")
                for (k = 1; k <= count && !(list[k] in is); k++);
                if (k <= count) sum += ns[i]
            }
            printf "wall.total_%d.pprof %.2f %%\n", threads, 100 * sum / lived
        }'
done

if ! command -v redis-server >/dev/null || ! command -v redis-benchmark >/dev/null; then
    echo "# wall.redis_get: redis-server and redis-benchmark are not installed"
    exit 0
fi
redis-server --port 0 --unixsocket "$WORK/bare" --save "" >/dev/null &
servers=$!
env LIBPPROF="wall,file=$WORK/redis.pb.gz" LD_PRELOAD="$LIBRARY" \
    redis-server --port 0 --unixsocket "$WORK/wall" --save "" >/dev/null &
servers="$servers $!"
# shellcheck disable=SC2064 # the servers of now
trap "kill $servers" EXIT
while [ ! -S "$WORK/bare" ] || [ ! -S "$WORK/wall" ]; do
    sleep 0.1
done
rate() {
    redis-benchmark -s "$WORK/$1" -t get -n $requests -c 20 --csv | sed -n 's/^"GET","\([0-9.]*\)".*/\1/p'
}
pair=0
while [ $pair -lt $pairs ]; do
    echo "$(rate bare) $(rate wall)"
    pair=$((pair + 1))
done >"$WORK/redis"
# shellcheck disable=SC2016 # awk's $
awk "$(cat "$(dirname "$0")/statistics.awk")"'
    { list[NR] = $2 / $1 }
    END {
        middle = median(list, NR)
        printf "wall.redis_get.pprof %.4f x # %.4f .. %.4f\n", middle, list[int(NR / 4) + 1], list[NR - int(NR / 4)]
    }' "$WORK/redis"
