#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 240
#
# test_heap_real.sh: real programs with every block sampled, and with one in 64 KiB: they print what they
# print without us, end as they end without us, and their profiles are right.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# same NAME COMMAND...: its profile at rate 1 is NAME.pb.gz.raw.
same() {
    name=$1
    shift
    expected_status=0
    "$@" >expected 2>expected.errors || expected_status=$?
    for rate in 64k 1; do
        found_status=0
        rm -f "$name.pb.gz"
        timeout -s KILL 100 env LIBPPROF="heap:$rate,file=$work/$name.pb.gz" LD_PRELOAD="$library" \
            "$@" >found 2>found.errors || found_status=$?
        expect_equal "status of $name at rate $rate" "$expected_status" "$found_status"
        cmp expected found >&2 || fail "$name prints something else at rate $rate"
        cmp expected.errors found.errors >&2 || fail "$name complains of something else at rate $rate"
        raw "$name.pb.gz"
    done
}

tested=
if command -v sqlite3 >/dev/null; then
    tested="$tested sqlite3"
    same sqlite3 sqlite3 :memory: "create table t(a, b);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
            insert into t select x, 'text ' || x from c;
        create index i on t(b); select count(*), sum(a), max(b) from t;"
    expect_at_least "bytes allocated by sqlite3" 1000000 "$(field 2 "$(blocks_of sqlite3.pb.gz.raw)")"
    # It closes its database, and frees nearly all.
    expect_at_least "bytes in use by sqlite3 below 100000" 0 \
        "$((100000 - $(field 4 "$(blocks_of sqlite3.pb.gz.raw)")))"
fi
if [ -x /usr/bin/python3 ]; then
    tested="$tested python3"
    # A list of 100000 pointers is what it is.
    same python3 /usr/bin/python3 -c '
import json, threading
data = [None] * 1000000
threads = [threading.Thread(target=lambda: [bytearray(5000) for _ in range(200)]) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(json.dumps(list(range(20000)))), len(data))
raise SystemExit(3)'
    expect_at_least "blocks of eight million bytes of python3" 1 "$(blocks python3.pb.gz.raw |
        awk '$5 == 8000000 { sum += $1 } END { print sum + 0 }')"
fi
if command -v gcc >/dev/null; then
    tested="$tested gcc"
    echo 'int main(void) { return 0; } /* compiled by cc1, a large C++ program */' >t.c
    same cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 -o - t.c
    expect_at_least "blocks of cc1" 1000 "$(field 1 "$(blocks_of cc1.pb.gz.raw)")"
fi

if command -v redis-server redis-cli redis-benchmark >/dev/null; then
    tested="$tested redis-server"
    socket=$work/socket
    answers() { [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; }
    env LIBPPROF="heap:1k,file=$work/redis.pb.gz" LD_PRELOAD="$library" redis-server --port 0 \
        --unixsocket "$socket" --save '' >log 2>&1 &
    server=$!
    started="$started $server"
    wait_until answers
    redis-benchmark -s "$socket" -q -n 20000 -r 10000 -P 8 -t set,get,lpush,hset >/dev/null
    redis-cli -s "$socket" eval 'for i = 1, 2000 do
        redis.call("set", "large" .. i, string.rep("x", 2000)) end return 1' 0 >/dev/null
    used=$(redis-cli -s "$socket" info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
    kill -TERM $server
    wait $server || fail "redis-server ended with status $?"
    raw redis.pb.gz
    # What it counts itself is the sizes of jemalloc's classes, with what is freed at the end.
    found=$(field 4 "$(blocks_of redis.pb.gz.raw)")
    expect_near "bytes in use of redis-server, by its own account $used" "$(percent "$used" 85)" \
        "$found" "$(percent "$used" 15)"
fi
echo "ok:$tested"
