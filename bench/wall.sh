#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wall: the wall-clock profile: what 1000 idle threads cost at 20 looks a second, how exact its sum is, and what servers
# lose.
#
#   idle_1000        CPU time of the process over a bare one, in percent of one processor
#   idle_1000_first  the same of the first 2.5 seconds, in milliseconds: the first look takes all stacks
#   total_N          the time of N threads in the profile over the time that they lived
#   redis_get        requests in a second over the mean of two bare servers: four servers run at a time, and are asked in
#   nginx_get        turns of 40 ms (server_load.c). A start of the four has the median of its rounds; the median of the
#   postgres_select  starts, since two processes of one program differ more than turns of one do. NAME_control: the
#                    second bare server over the first, the machine's noise; NAME_loaded: with the library preloaded,
#                    and nothing started; NAME_looks: CPU time of the library's threads meanwhile, in percent of all
#                    processors

set -eu

case $BENCH in
quick) ms=5000 starts=8 rounds=12 ;;
*) ms=20000 starts=30 rounds=24 ;;
esac

with_wall() {
    env LIBPPROF="wall,file=$WORK/wall.pb.gz" LD_PRELOAD="$LIBRARY" "$@"
}

bare=$("$PROGRAMS/wall" idle 1000 $ms)
with_wall "$PROGRAMS/wall" idle 1000 $ms | awk -v bare="$bare" '{
    split(bare, b, " ")
    printf "wall.idle_1000.pprof %.3f %%\nwall.idle_1000_first.pprof %.1f ms\n", $1 - b[1], $2 - b[2]
}'

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

# ---- servers ----

ways="bare control loaded wall"
mkdir "$WORK/profiles"
chmod a+rwx "$WORK" "$WORK/profiles" # postgres is another user

servers=
stop() {
    for server in $servers; do
        kill -INT "$server" 2>/dev/null || true
    done
    for server in $servers; do
        wait "$server" || true
    done
    servers=
}
trap stop EXIT

# start bare|control|loaded|wall COMMAND...: in the background.
start() {
    case $1 in
    wall) with="env LIBPPROF=wall,subprocesses,file=$WORK/profiles/%e.%p.pb.gz LD_PRELOAD=$LIBRARY" ;;
    loaded) with="env LD_PRELOAD=$LIBRARY" ;;
    *) with= ;;
    esac
    shift
    # shellcheck disable=SC2086 # words
    $as $with "$@" >"$WORK/server.log" 2>&1 &
    servers="$servers $!"
}

# wait_for COMMAND...: until it succeeds; shows what the server has said if it does not.
wait_for() {
    tries=300
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ $tries = 0 ]; then
            cat "$WORK/server.log" >&2
            return 1
        fi
        sleep 0.1
    done
}

# looked_ns: CPU time of the library's threads that live.
looked_ns() {
    for comm in $(grep -lx 'libpprof.*' /proc/[0-9]*/task/*/comm 2>/dev/null); do
        cat "${comm%comm}schedstat" 2>/dev/null || true
    done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# sockets NAME: of all four servers.
sockets() {
    for way in $ways; do
        "$1_socket" $way
    done
}

# compare NAME PROTOCOL CLIENTS: NAME_start starts one of the four servers, NAME_socket says where it listens.
compare() {
    name=$1 protocol=$2 clients=$3
    count=0
    while [ $count -lt $starts ]; do
        for way in $ways; do
            "${name}_start" $way
        done
        # shellcheck disable=SC2046 # words
        "$PROGRAMS/server_load" "$protocol" "$clients" 40 $rounds $(sockets "$name")
        count=$((count + 1))
        [ $count = $starts ] || stop
    done >"$WORK/$name"
    "$PROGRAMS/server_load" "$protocol" "$clients" 6000 1 "$("${name}_socket" wall)" >/dev/null &
    sleep 3 # its connections are there, one after the other
    before=$(looked_ns)
    sleep 2
    awk -v name="$name" -v ns="$(($(looked_ns) - before))" -v processors="$(nproc)" \
        'BEGIN { printf "wall.%s_looks.pprof %.3f %%\n", name, ns / 2e7 / processors }'
    wait $!
    stop
    # shellcheck disable=SC2016 # awk's $
    awk -v name="$name" -v rounds=$rounds "$(cat "$(dirname "$0")/statistics.awk")"'
        # The bounds of the 95 % confidence interval of the median: ranks of the binomial distribution.
        function show(what, list,    n, middle, reach) {
            n = NR / rounds
            middle = median(list, n)
            reach = 0.98 * sqrt(n)
            printf "wall.%s%s.pprof %.4f x # %.4f .. %.4f\n", name, what, middle, \
                list[int((n + 1) / 2 - reach)], list[int((n + 2) / 2 + reach)]
        }
        {
            control_turns[++n] = $2 / $1
            loaded_turns[n] = 2 * $3 / ($1 + $2)
            turns[n] = 2 * $4 / ($1 + $2)
        }
        n == rounds {
            control[++s] = median(control_turns, n)
            loaded[s] = median(loaded_turns, n)
            list[s] = median(turns, n)
            n = 0
        }
        END { show("_control", control); show("_loaded", loaded); show("", list) }' "$WORK/$name"
}

has() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || return 1
    done
}

PATH=$PATH:/usr/sbin
as=
redis_get_socket() { echo "$WORK/redis.$1"; }
redis_get_start() {
    rm -f "$WORK/redis.$1"
    start "$1" redis-server --port 0 --unixsocket "$WORK/redis.$1" --save ""
    wait_for test -S "$WORK/redis.$1"
}
if has redis-server; then
    compare redis_get redis 20
else
    echo "# wall.redis_get: redis-server is not installed"
fi

nginx_get_socket() { echo "$WORK/nginx.$1"; }
nginx_get_start() {
    rm -f "$WORK/nginx.$1"
    cat >"$WORK/$1.conf" <<CONF
daemon off; master_process off; error_log $WORK/$1.errors; pid $WORK/$1.pid;
events { worker_connections 256; }
http {
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path $WORK/a; proxy_temp_path $WORK/b; fastcgi_temp_path $WORK/c;
    uwsgi_temp_path $WORK/d; scgi_temp_path $WORK/e;
    server { listen unix:$WORK/nginx.$1; root $WORK/served; }
}
CONF
    start "$1" nginx -c "$WORK/$1.conf"
    wait_for test -S "$WORK/nginx.$1"
}
if has nginx; then
    mkdir "$WORK/served"
    echo "a small file" >"$WORK/served/index.html"
    chmod -R a+rX "$WORK/served"
    compare nginx_get http 20
else
    echo "# wall.nginx_get: nginx is not installed"
fi

postgres=$(find /usr/lib/postgresql -name initdb 2>/dev/null | sort | tail -n 1)
postgres=${postgres%/initdb}
postgres_select_socket() { echo "$WORK/pg/$1.at/.s.PGSQL.5432"; }
postgres_select_start() {
    start "$1" "$postgres/postgres" -D "$WORK/pg/$1" -k "$WORK/pg/$1.at" -c listen_addresses= -c fsync=off
    wait_for test -S "$WORK/pg/$1.at/.s.PGSQL.5432"
    if [ ! -e "$WORK/pg/$1.filled" ]; then
        wait_for pgbench -h "$WORK/pg/$1.at" -U postgres -i -q -s 5 postgres
        : >"$WORK/pg/$1.filled"
    fi
    # It may still refuse connections.
    wait_for psql -h "$WORK/pg/$1.at" -U postgres -c "SELECT abalance FROM pgbench_accounts WHERE aid = 4711" postgres
}
if [ -n "$postgres" ] && has pgbench psql; then
    mkdir "$WORK/pg"
    for way in $ways; do
        mkdir "$WORK/pg/$way.at"
    done
    if [ "$(id -u)" = 0 ]; then # it does not run as root
        as="setpriv --reuid=postgres --regid=postgres --init-groups"
        chown -R postgres "$WORK/pg"
    fi
    for way in $ways; do
        $as "$postgres/initdb" -U postgres -D "$WORK/pg/$way" -A trust -N >"$WORK/server.log" 2>&1
    done
    compare postgres_select postgres 4
else
    echo "# wall.postgres_select: postgres and its clients are not installed"
fi
