#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_redis_heap.sh: a server with jemalloc and threads, which counts its own memory: what the heap
# profile says is in use is what INFO says, less what jemalloc rounds up.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go redis-server redis-benchmark redis-cli

socket=$work/socket
answers() { [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; }
info() { redis-cli -s "$socket" info memory | tr -d '\r' | sed -n "s/^$1://p"; }

# serve RATE: loaded for a while; used = used_memory, found = bytes in use in the profile.
serve() {
    rm -f "$socket"
    env LIBPPROF="heap:$1,file=$work/redis.$1.pb.gz" LD_PRELOAD="$library" redis-server --port 0 \
        --unixsocket "$socket" --save '' --io-threads 2 >log 2>&1 &
    server=$!
    started="$started $server"
    wait_until answers
    redis-benchmark -s "$socket" -q -n 30000 -r 30000 -d 500 -P 16 -t set,lpush,hset,sadd,zadd >/dev/null
    expect_equal "answer" 500 "$(redis-cli -s "$socket" eval \
        'return #redis.call("get", redis.call("keys", "key:*")[1])' 0)"
    used=$(info used_memory)
    kill -TERM $server
    ended=0
    wait $server || ended=$?
    expect_equal "status of redis-server after SIGTERM" 0 "$ended"
    raw "redis.$1.pb.gz"
    ! grep -q lost "redis.$1.pb.gz.raw" || fail "lost samples: $(grep lost "redis.$1.pb.gz.raw")"
    found=$(blocks_of "redis.$1.pb.gz.raw" | cut -d ' ' -f 4)
    echo "rate $1: redis uses $used, the profile says $found"
}

# Every block: between what was asked for and that plus a size class of jemalloc, an eighth to a fifth.
serve 1
expect_at_least "bytes in use, every block" "$(percent "$used" 80)" "$found"
expect_at_least "used_memory" "$found" "$used"
exact=$(awk -v found="$found" -v used="$used" 'BEGIN { print found / used }')

# Some: the same share of used_memory, five standard deviations of so many samples.
for rate in 16k 64k; do
    serve $rate
    expect_near "bytes in use at $rate" "$(awk -v used="$used" -v exact="$exact" 'BEGIN { print used * exact }')" \
        "$found" "$(awk -v found="$found" -v rate="${rate%k}" \
            'BEGIN { print 5 * found / sqrt(found / rate / 1024) }')"
done
echo ok
