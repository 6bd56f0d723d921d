#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 300
#
# test_http_scrape.sh: a redis-server under load is scraped as Grafana Alloy's pyroscope.scrape does it with its default
# targets: process_cpu for its time, memory, goroutine, mutex, block, and the deltas of godeltaprof, all at the same time,
# twice.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3 redis-server redis-benchmark

env LIBPPROF=http=127.0.0.1:0,heap:4k,block,mutex LD_PRELOAD="$library" \
    redis-server --port 0 --unixsocket "$work/redis" --save '' --io-threads 2 --io-threads-do-reads yes >redis.log 2>server.err &
server=$!
started="$started $server"
wait_until test -S redis
wait_until has_text server.err "/debug/pprof/"
url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' server.err)
redis-benchmark -s "$work/redis" -l -q -t set,get -c 8 -P 4 >benchmark.log 2>&1 &
load=$!
started="$started $load"

# Alloy asks for process_cpu with one second less than its interval of 15; here they are 3.
seconds=3
targets="process_cpu=profile?seconds=$seconds memory=allocs goroutine=goroutine mutex=mutex block=block
    godeltaprof_memory=delta_heap godeltaprof_mutex=delta_mutex godeltaprof_block=delta_block"
scrape() { # CYCLE
    scrapes=
    for target in $targets; do
        python3 "$ask" "$url/${target#*=}" -o "${target%%=*}.$1.pb.gz" \
            -H 'User-Agent: Alloy/v1.0.0' -H 'Accept-Encoding: gzip' >"${target%%=*}.$1.answer" &
        scrapes="$scrapes $!"
    done
    for one in $scrapes; do
        wait "$one" || fail "a request of cycle $1 had no answer: $(cat ./*."$1".answer)"
    done
    for target in $targets; do
        name=${target%%=*}.$1
        expect_equal "status of $name" 200 "$(sed -n 1p "$name.answer")"
        ! grep -qi '^content-encoding' "$name.answer" || fail "$name has a Content-Encoding: $(cat "$name.answer")"
        raw "$name.pb.gz"
    done
}
scrape 1
scrape 2

blocks() { # NAME: all that were allocated
    awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
        on && /^ *-?[0-9]+( +-?[0-9]+)*:/ { total += $1 } END { printf "%d\n", total }' "$1.pb.gz.raw"
}
types() { sed -n '/^Samples:/ { n; p; }' "$1.pb.gz.raw" | sed 's/\[dflt\]//'; }
duration() { sed -n 's/^Duration: \([0-9]*\).*/\1/p' "$1.pb.gz.raw"; }
heap_types="alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
for cycle in 1 2; do
    expect_equal "types of process_cpu" "samples/count cpu/nanoseconds" "$(types process_cpu.$cycle)"
    expect_equal "types of memory" "$heap_types" "$(types memory.$cycle)"
    expect_equal "types of godeltaprof_memory" "$heap_types" "$(types godeltaprof_memory.$cycle)"
    expect_equal "types of goroutine" "goroutine/count" "$(types goroutine.$cycle)"
    for name in mutex block godeltaprof_mutex godeltaprof_block; do
        expect_equal "types of $name" "contentions/count delay/nanoseconds" "$(types $name.$cycle)"
    done
    expect_at_least "seconds of process_cpu in cycle $cycle" $seconds "$(duration process_cpu.$cycle)"
    expect_at_least "samples of process_cpu in cycle $cycle" 1 "$(weight process_cpu.$cycle.pb.gz.raw)"
    expect_at_least "blocks of memory in cycle $cycle" 1 "$(blocks memory.$cycle)"
done
# What has been allocated in all, after the second delta, is at least that.
python3 "$ask" "$url/allocs" -o memory.3.pb.gz >memory.3.answer
raw memory.3.pb.gz
expect_at_least "blocks in memory, beside the second delta" "$(blocks godeltaprof_memory.2)" \
    "$(blocks memory.3)"
for name in memory mutex block; do
    expect_at_least "seconds of the second delta of $name" 1 "$(duration godeltaprof_$name.2)"
done

kill "$load"
wait "$load" || true
kill "$server"
wait "$server" || fail "redis-server ends with $?: $(cat redis.log)"
! grep -v /debug/pprof/ server.err | grep -q . || fail "messages: $(cat server.err)"
echo ok
