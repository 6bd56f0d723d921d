#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wall: the wall-clock profile: what 1000 idle threads cost at 20 looks a second, how exact its sum is, and what servers
# lose.
#
#   idle_1000        CPU time of the process over a bare one, in percent of one processor
#   idle_1000_first  the same of the first 2.5 seconds, in milliseconds: the first look takes all stacks
#   total_N          the time of N threads in the profile over the time that they lived
#   redis_get        requests in a second over those of a bare server that runs beside it, before and after; the median:
#   nginx_get        redis-benchmark; wrk and a worker that serves a small file; pgbench and postgres with all its
#   postgres_select  processes. NAME_control: those of the bare server after over those before, which is this machine's noise;
#                    NAME_looks: CPU time of the library's threads meanwhile, in percent of all processors

set -eu

case $BENCH in
quick) ms=5000 pairs=5 requests=100000 seconds=1 ;;
*) ms=20000 pairs=21 requests=400000 seconds=4 ;;
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

# ---- servers, each twice: bare and wall ----

mkdir "$WORK/profiles"
chmod a+rwx "$WORK/profiles" # postgres is another user

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

# start bare|wall COMMAND...: in the background.
start() {
    if [ "$1" = wall ]; then
        with="env LIBPPROF=wall,subprocesses,file=$WORK/profiles/%e.%p.pb.gz LD_PRELOAD=$LIBRARY"
    else
        with=
    fi
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

# compare NAME: NAME_rate prints the requests in a second of one of the two.
compare() {
    pair=0
    while [ $pair -lt $pairs ]; do
        echo "$("$1_rate" bare) $("$1_rate" wall) $("$1_rate" bare)"
        pair=$((pair + 1))
    done >"$WORK/$1"
    "$1_rate" wall >"$WORK/$1.last" &
    sleep 0.4 # its connections are there
    before=$(looked_ns)
    sleep 0.5
    awk -v name="$1" -v ns="$(($(looked_ns) - before))" -v processors="$(nproc)" \
        'BEGIN { printf "wall.%s_looks.pprof %.3f %%\n", name, ns / 5e6 / processors }'
    wait $!
    stop
    # shellcheck disable=SC2016 # awk's $
    awk -v name="$1" "$(cat "$(dirname "$0")/statistics.awk")"'
        { list[NR] = 2 * $2 / ($1 + $3); control[NR] = $3 / $1 }
        END {
            middle = median(control, NR)
            printf "wall.%s_control.pprof %.4f x # %.4f .. %.4f\n", name, middle, control[int(NR / 4) + 1], control[NR - int(NR / 4)]
            middle = median(list, NR)
            printf "wall.%s.pprof %.4f x # %.4f .. %.4f\n", name, middle, list[int(NR / 4) + 1], list[NR - int(NR / 4)]
        }' "$WORK/$1"
}

has() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || return 1
    done
}

PATH=$PATH:/usr/sbin
as=
redis_get_rate() {
    redis-benchmark -s "$WORK/$1" -t get -n "$requests" -c 20 --csv | sed -n 's/^"GET","\([0-9.]*\)".*/\1/p'
}
if has redis-server redis-benchmark; then
    for way in bare wall; do
        start $way redis-server --port 0 --unixsocket "$WORK/$way" --save ""
        wait_for test -S "$WORK/$way"
    done
    compare redis_get
else
    echo "# wall.redis_get: redis-server and redis-benchmark are not installed"
fi

# Nobody else listens there, as a rule.
port_of() { [ "$1" = bare ] && echo 18931 || echo 18932; }
nginx_get_rate() {
    wrk -t 1 -c 20 -d "${seconds}s" "http://127.0.0.1:$(port_of "$1")/index.html" | awk '/^Requests\/sec:/ { print $2 }'
}
if has nginx wrk; then
    mkdir -p "$WORK/nginx"
    echo "a small file" >"$WORK/nginx/index.html"
    chmod -R a+rX "$WORK" "$WORK/nginx"
    for way in bare wall; do
        cat >"$WORK/$way.conf" <<CONF
daemon off; master_process off; error_log $WORK/$way.errors; pid $WORK/$way.pid;
events { worker_connections 256; }
http {
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path $WORK/a; proxy_temp_path $WORK/b; fastcgi_temp_path $WORK/c;
    uwsgi_temp_path $WORK/d; scgi_temp_path $WORK/e;
    server { listen 127.0.0.1:$(port_of $way); root $WORK/nginx; }
}
CONF
        start $way nginx -c "$WORK/$way.conf"
        wait_for test -s "$WORK/$way.pid"
    done
    compare nginx_get
else
    echo "# wall.nginx_get: nginx and wrk are not installed"
fi

postgres=$(find /usr/lib/postgresql -name initdb 2>/dev/null | sort | tail -n 1)
postgres=${postgres%/initdb}
postgres_select_rate() {
    pgbench -h "$WORK/pg" -p "$(port_of "$1")" -U postgres -S -n -c 4 -T "$seconds" postgres 2>/dev/null |
        sed -n 's/^tps = \([0-9.]*\) .*without.*/\1/p'
}
if [ -n "$postgres" ] && has pgbench; then
    mkdir -p "$WORK/pg"
    if [ "$(id -u)" = 0 ]; then # it does not run as root
        as="setpriv --reuid=postgres --regid=postgres --init-groups"
        chmod a+rx "$WORK"
        chown postgres "$WORK/pg"
    fi
    for way in bare wall; do
        $as "$postgres/initdb" -U postgres -D "$WORK/pg/$way" -A trust -N >"$WORK/server.log" 2>&1
        start $way "$postgres/postgres" -D "$WORK/pg/$way" -k "$WORK/pg" -c listen_addresses= -c fsync=off -p "$(port_of $way)"
        wait_for pgbench -h "$WORK/pg" -p "$(port_of $way)" -U postgres -i -q -s 5 postgres
    done
    compare postgres_select
else
    echo "# wall.postgres_select: postgres and pgbench are not installed"
fi
