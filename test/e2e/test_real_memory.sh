#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_memory.sh: the page of `cpprof memory` adds up to what the kernel counts, within 2 %: of redis (jemalloc), of a backend
# of postgres (shared memory, after fork), of python3 (its own arenas by mmap); and says of each what it has.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# Servers write their titles over the environment, which would say where else the control socket is.
unset XDG_RUNTIME_DIR

# bytes TEXT: of "12.34MB".
bytes() { echo "$1" | awk '{ n = $1 + 0; u = $1; sub(/^[0-9.]+/, "", u); printf "%.0f\n", n * (u == "GB" ? 2 ^ 30 : u == "MB" ? 2 ^ 20 : u == "kB" ? 1024 : 1) }'; }
# line PAGE WORDS: the resident bytes of a line of the table.
line() { bytes "$(awk -v words="$2" '/^$/ { exit } index($0, "  " words) { print $1 }' "$1")"; }
counted() { awk -v key="$2" '$1 == key { print $2 * 1024 }' "/proc/$1/$3"; }

# look PID PAGE: what the page adds up to is what the kernel counts, by both ways.
look() {
    "$BUILD/bin/cpprof" memory -p "$1" >"$2" 2>"$2.err" || fail "memory of $2: $(cat "$2.err")"
    counter=$(counted "$1" VmRSS: status)
    exact=$(counted "$1" Rss: smaps_rollup)
    expect_near "sum of $2" "$exact" "$(line "$2" all)" "$(percent "$exact" 2)"
    expect_near "sum of $2, and VmRSS" "$counter" "$(line "$2" all)" "$(rss_error "$1" "$counter")"
    [ -z "${PPROF_SHOW:-}" ] || cat "$2"
    echo "$2: the kernel counts $exact, the page has $(line "$2" all)"
}

looked=0
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
    socket=$work/redis
    answers() { [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; }
    info() { redis-cli -s "$socket" info memory | tr -d '\r' | sed -n "s/^$1://p"; }
    env LIBPPROF=heap:64k,control LD_PRELOAD="$library" redis-server --port 0 --unixsocket "$socket" --save '' >redis.log 2>&1 &
    server=$!
    started="$started $server"
    wait_until answers
    redis-benchmark -s "$socket" -q -n 40000 -r 40000 -d 500 -P 16 -t set,lpush >benchmark
    look $server redis.page
    used=$(info used_memory)
    expect_near "live blocks of redis" "$used" "$(line redis.page 'live blocks')" "$(percent "$used" 10)"
    expect_contains "stacks of redis" redis.page createStringObject
    # Of every second value the memory is free, but its pages are not.
    redis-cli -s "$socket" eval "for i = 1, 40000, 2 do redis.call('del', string.format('key:%012d', i)) end" 0 >deleted
    look $server fewer.page
    gone=$((used - $(info used_memory)))
    free=$(awk -v a="$(line fewer.page 'free memory')" -v b="$(line redis.page 'free memory')" 'BEGIN { print a - b }')
    expect_near "fragmentation of redis" "$gone" "$free" "$(percent "$gone" 50)"
    kill $server
    wait $server || fail "redis-server: $?"
    looked=$((looked + 1))
fi

if [ -x /usr/bin/python3 ]; then
    rm -f input
    mkfifo input
    env LIBPPROF=heap,control LD_PRELOAD="$library" /usr/bin/python3 -c "
import mmap, sys
strings = [str(i) * 200 for i in range(30000)]
lists = [[i] for i in range(200000)]
m = mmap.mmap(-1, 32 << 20)
m.write(b'x' * (16 << 20))
print('ready', flush=True)
sys.stdin.readline()" <input >python.out 2>python.err &
    server=$!
    started="$started $server"
    exec 9>input
    wait_until has_line python.out ready
    look $server python.page
    expect_equal "shared mapping of python" $((16 << 20)) "$(line python.page 'shared memory')"
    exec 9>&-
    ends_with 0 $server
    looked=$((looked + 1))
fi

if find_postgres && command -v psql >/dev/null; then
    prepare_postgres socket
    library=$(for_everybody "$library")
    for_everybody "$BUILD/lib/libpprof-http.so.0" >copied
    as env LIBPPROF=heap:64k,control,subprocesses LD_PRELOAD="$library" \
        "$postgres/postgres" -D "$work/data" -k "$work/socket" -c listen_addresses= -c fsync=off -c shared_buffers=64MB >log 2>&1 &
    server=$!
    started="$started $server"
    ask() { psql -h "$work/socket" -U postgres -d postgres -Atc "$1" 2>errors; }
    wait_until ask 'select 1' >/dev/null
    rm -f input
    mkfifo input
    psql -h "$work/socket" -U postgres -d postgres -At <input >psql.out 2>psql.err &
    client=$!
    started="$started $client"
    exec 9>input
    echo "create table t as select i, repeat(md5(i::text), 10) m from generate_series(1, 100000) i;
        select 'rows ' || count(distinct m) from t; select 'backend ' || pg_backend_pid();" >&9
    wait_until has_text psql.out backend
    backend=$(sed -n 's/^backend //p' psql.out)
    look "$backend" postgres.page
    expect_at_least "shared memory of postgres" $((8 << 20)) "$(line postgres.page 'shared memory')"
    grep -q 'MemoryContext\|AllocSet' postgres.page || fail "no memory contexts: $(cat postgres.page)"
    exec 9>&-
    ends_with 0 $client
    kill -INT "$(head -n 1 data/postmaster.pid)"
    ended=0
    wait $server || ended=$?
    expect_equal "status of postgres: $(cat log)" 0 "$ended"
    looked=$((looked + 1))
fi
[ $looked -gt 0 ] || skip "there is no redis, python3 or postgres"
echo "ok: $looked programs"
