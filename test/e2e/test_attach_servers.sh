#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 300
# nightly: 3
#
# test_attach_servers.sh: cpprof attaches to redis, nginx, a backend of postgres and a server of 200 threads, and lets them go, again
# and again, while clients ask: no request fails, and the servers go on and end as ever. ATTACH_TURNS=200 does it more often.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need redis-server nginx psql python3
cpprof=$BUILD/bin/cpprof
turns=${ATTACH_TURNS:-8}

# client NAME KIND ADDRESS: asks until the end of NAME.in, on descriptor 4.
client() {
    mkfifo "$1.in"
    python3 "$SRC/test/e2e/attach/client.py" "$2" "$3" <"$1.in" >"$1.out" 2>&1 &
    asker=$!
    started="$started $asker"
    exec 4>"$1.in"
    wait_until has_line "$1.out" ready
}

# enough NAME: ends the client, all of whose requests were answered.
enough() {
    exec 4>&-
    wait "$asker" || fail "the client of $1: $(cat "$1.out")"
    expect_contains "requests of $1" "$1.out" " wrong 0 "
    echo "$1: $(tail -n 1 "$1.out")"
}

# attach NAME PROCESS: and detach, in turns: with the hooks of each kind, and with a CPU profile at the end.
attach() {
    turn=0
    while [ "$turn" -lt "$turns" ]; do
        turn=$((turn + 1))
        attempts=0
        until "$cpprof" configure "$2" heap:4k,mutex,block,fd >"$1.log" 2>&1; do
            attempts=$((attempts + 1))
            [ "$attempts" -lt 5 ] || fail "$1, turn $turn: $(cat "$1.log")"
        done
        "$cpprof" configure "$2" detach >"$1.log" 2>&1 || fail "$1, the end of turn $turn: $(cat "$1.log")"
    done
    "$cpprof" record -p "$2" -e cpu,heap,mutex -d 1 -o "$1.pb.gz" >"$1.log" 2>&1 || fail "$1: $(cat "$1.log")"
    for kind in cpu heap; do
        go tool pprof -raw "$1.$kind.pb.gz" >"$1.$kind.raw" || fail "$1: the $kind profile cannot be read"
    done
    kill -0 "$2" || fail "$1 has ended"
}

# ---- redis ----

redis-server --port 0 --unixsocket "$work/redis.socket" --save "" --daemonize no >redis.log 2>&1 &
server=$!
started="$started $server"
wait_until test -S redis.socket
client redis redis "$work/redis.socket"
attach redis "$server"
enough redis
kill -TERM "$server"
wait "$server" || fail "redis ended with $?: $(tail -n 5 redis.log)"

# ---- 200 threads ----

"$victims/echo_server" "$work/echo.socket" 200 >echo.ready 2>echo.err &
server=$!
started="$started $server"
wait_until has_line echo.ready ready
client echo echo "$work/echo.socket"
attach echo "$server"
enough echo
[ ! -s echo.err ] || fail "the server of 200 threads: $(cat echo.err)"
kill -KILL "$server"

# ---- nginx: a worker ----

echo "the page" >page
if configure_nginx ""; then
    nginx -c "$work/nginx.conf" 2>nginx.err &
    server=$!
    started="$started $server"
    wait_until test -S socket
    has_workers() { [ -n "$(cat "/proc/$server/task/$server/children")" ]; }
    wait_until has_workers
    worker=$(tr ' ' '\n' <"/proc/$server/task/$server/children" | head -n 1)
    client nginx nginx "$work/socket"
    attach nginx "$worker"
    enough nginx
    kill -QUIT "$server"
    wait "$server" || fail "nginx ended with $?: $(cat nginx.err)"
    [ ! -s nginx.err ] || fail "nginx said $(cat nginx.err)"
fi

# ---- postgres: the process that serves the client ----

find_postgres || absent initdb
prepare_postgres sockets
as "$postgres/postgres" -D "$work/data" -k "$work/sockets" -c listen_addresses= -c fsync=off >postgres.log 2>&1 &
server=$!
started="$started $server"
accepts() { psql -h "$work/sockets" -U postgres -d postgres -Atc 'select 1' >/dev/null 2>&1; }
wait_until accepts
client postgres postgres "$work/sockets/.s.PGSQL.5432"
attach postgres "$(sed -n 's/^backend //p' postgres.out)"
enough postgres
kill -INT "$(head -n 1 data/postmaster.pid)"
wait "$server" || fail "postgres ended with $?: $(cat postgres.log)"
