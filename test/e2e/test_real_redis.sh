#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_redis.sh: a server with threads and jemalloc, under load, ended by SIGTERM.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go redis-server redis-benchmark redis-cli

socket=$work/socket
answers() { [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; }
env LIBPPROF="cpu:1000,file=$work/redis.pb.gz" LD_PRELOAD="$library" redis-server --port 0 \
    --unixsocket "$socket" --save '' --io-threads 2 --set-proc-title yes >log 2>&1 &
server=$!
started="$started $server"
wait_until answers
redis-benchmark -s "$socket" -q -n 20000 -P 8 -t set,get,lpush,lrange_100 >/dev/null
expect_equal "answer to a script" 125000250000 "$(redis-cli -s "$socket" eval \
    'local s = 0 for i = 1, 500000 do s = s + i end return string.format("%d", s)' 0)"
kill -TERM $server
ended=0
wait $server || ended=$?
expect_equal "status of redis-server after SIGTERM" 0 "$ended"
expect_whole redis.pb.gz
expect_at_least "weight of the server" 50 "$(weight redis.pb.gz.raw)"
echo ok
