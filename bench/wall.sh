#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wall: the wall-clock profile: what 1000 idle threads cost at 20 looks a second, how exact its sum is, and what servers
# lose.
#
#   idle_1000        CPU time of the process over a bare one, in percent of one processor
#   idle_1000_first  the same of the first 2.5 seconds, in milliseconds: the first look takes all stacks
#   total_N          the time of N threads in the profile over the time that they lived
#   redis_get        requests in a second while the profile is taken, over those of the same process without it. Two
#   nginx_get        servers run beside each other, and are asked in turns of 40 ms (server_load.c); by turns of two
#   postgres_select  seconds one of them is profiled, so that what differs between two processes cancels out
#   NAME_loaded      with the library preloaded and nothing started, over the mean of two bare servers: medians of the
#                    rounds of a start, and of the starts, since two processes of one program differ more than turns of
#                    one do
#   NAME_control     the second bare server over the first, the machine's noise
#   NAME_looks       CPU time of the library's threads while a server is profiled and at work, in percent of all
#                    processors

set -eu

case $BENCH in
quick) ms=5000 starts=4 rounds=12 toggled_starts=1 blocks=10 ;;
*) ms=20000 starts=12 rounds=24 toggled_starts=4 blocks=30 ;;
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

beside="bare control loaded"
toggled="one other"
toggled_rounds=18 # of a block of two seconds
ways="$beside $toggled wall"
unset XDG_RUNTIME_DIR # redis and postgres write over their environment, where cpprof would look for it
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

# start WAY COMMAND...: in the background.
start() {
    case $1 in
    one | other) with="env LIBPPROF=control,subprocesses LD_PRELOAD=$LIBRARY" ;;
    wall) with="env LIBPPROF=wall,subprocesses,file=$WORK/profiles/%e.%p.pb.gz LD_PRELOAD=$LIBRARY" ;;
    loaded) with="env LD_PRELOAD=$LIBRARY" ;;
    *) with= ;;
    esac
    way=$1
    shift
    # shellcheck disable=SC2086 # words
    $as $with "$@" >"$WORK/server.log" 2>&1 &
    servers="$servers $!"
    echo $! >"$WORK/$way.pid"
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

# start_all NAME WAY...: of the servers of a program. NAME_start starts one, NAME_socket says where it listens.
start_all() {
    name=$1
    shift
    for way in "$@"; do
        "${name}_start" "$way"
    done
}

# sockets NAME WAY...: of servers.
sockets() {
    name=$1
    shift
    for way in "$@"; do
        "${name}_socket" "$way"
    done
}

# toggle BLOCK: ends the profiles of a server's processes, and begins those of the other one's.
cat >"$WORK/toggle" <<'END'
#!/bin/sh
set -eu
if [ "$1" != 0 ]; then
    kill -0 "$(head -n 1 asked)" 2>/dev/null || { echo "a block lasts longer than its profile" >&2; exit 1; }
    while read -r asked; do
        while kill -0 "$asked" 2>/dev/null; do sleep 0.02; done
    done <asked
fi
way=one
[ $(($1 % 2)) = 0 ] || way=other
for process in $(ps -o pid= -p "$(cat $way.pid)" --ppid "$(cat $way.pid)"); do
    $AS "$CPPROF" raw "pid:$process/wall?seconds=2" >/dev/null 2>>toggle.log &
    echo $!
done >asked
sleep 0.2
END
chmod +x "$WORK/toggle"

# toggle NAME PROTOCOL CLIENTS: the profile on and off, in processes that go on.
toggle() {
    count=0
    while [ $count -lt $toggled_starts ]; do
        # shellcheck disable=SC2086 # words
        start_all "$1" $toggled
        # shellcheck disable=SC2046,SC2086 # words
        (cd "$WORK" && AS=$as CPPROF=${PROGRAMS%/*}/bin/cpprof "$PROGRAMS/server_load" -b $blocks ./toggle \
            "$2" "$3" 40 $toggled_rounds $(sockets "$1" $toggled))
        stop
        count=$((count + 1))
    done >"$WORK/$1.toggled"
    # Of each two blocks: half of the logarithm of the ratio of ratios. Its mean, with two standard errors.
    awk -v name="$1" -v rounds=$toggled_rounds '
        { sum += log($2 / $3) }
        FNR % rounds == 0 {
            mean = sum / rounds
            sum = 0
            if ($1 % 2 == 0) { first = mean; next }
            n++
            effect = (first - mean) / 2
            all += effect
            squares += effect * effect
        }
        END {
            mean = all / n
            error = sqrt((squares / n - mean * mean) / (n - 1))
            printf "wall.%s.pprof %.4f x # %.4f .. %.4f\n", name, exp(mean), exp(mean - 2 * error), exp(mean + 2 * error)
        }' "$WORK/$1.toggled"
}

# compare NAME PROTOCOL CLIENTS: servers with and without the library; then what the looks use.
compare() {
    count=0
    while [ $count -lt $starts ]; do
        # shellcheck disable=SC2086 # words
        start_all "$1" $beside
        # shellcheck disable=SC2046,SC2086 # words
        "$PROGRAMS/server_load" "$2" "$3" 40 $rounds $(sockets "$1" $beside)
        stop
        count=$((count + 1))
    done >"$WORK/$1"
    # shellcheck disable=SC2016 # awk's $
    awk -v name="$1" -v rounds=$rounds "$(cat "$(dirname "$0")/statistics.awk")"'
        # The bounds of the 95 % confidence interval of the median: ranks of the binomial distribution.
        function show(what, list,    n, middle, reach) {
            n = NR / rounds
            middle = median(list, n)
            reach = 0.98 * sqrt(n)
            printf "wall.%s_%s.pprof %.4f x # %.4f .. %.4f\n", name, what, middle, \
                list[int((n + 1) / 2 - reach)], list[int((n + 2) / 2 + reach)]
        }
        {
            control_turns[++n] = $2 / $1
            loaded_turns[n] = 2 * $3 / ($1 + $2)
        }
        n == rounds {
            control[++s] = median(control_turns, n)
            loaded[s] = median(loaded_turns, n)
            n = 0
        }
        END { show("control", control); show("loaded", loaded) }' "$WORK/$1"

    start_all "$1" wall
    "$PROGRAMS/server_load" "$2" "$3" 6000 1 "$(sockets "$1" wall)" >/dev/null &
    sleep 3 # its connections are there, one after the other
    before=$(looked_ns)
    sleep 2
    awk -v name="$1" -v ns="$(($(looked_ns) - before))" -v processors="$(nproc)" \
        'BEGIN { printf "wall.%s_looks.pprof %.3f %%\n", name, ns / 2e7 / processors }'
    wait $!
    stop
    toggle "$1" "$2" "$3"
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
