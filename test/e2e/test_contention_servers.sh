#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_contention_servers.sh: servers under load by many clients at once, with the block and mutex profiles: right
# answers, a clean end, stacks that name who waits. Those that are not installed are left out.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# serve NAME COMMAND...: in the background, with both profiles; its process id in $server.
serve() {
    serve_name=$1
    shift
    env LIBPPROF="block,mutex,file=$work/$serve_name.%k.pb.gz" LD_PRELOAD="$library" "$@" >"$serve_name.log" 2>&1 &
    server=$!
    started="$started $server"
}

# ends NAME: by SIGTERM, with status 0 and both profiles.
ends() {
    kill -TERM "$server"
    ended=0
    wait "$server" || ended=$?
    expect_equal "status of $1 after SIGTERM: $(cat "$1.log")" 0 "$ended"
    raw "$1.block.pb.gz"
    raw "$1.mutex.pb.gz"
    waits=$1.block.pb.gz.raw
    expect_at_least "percent of whole stacks in $waits" 99 "$(whole_percent "$waits")"
    ! grep -q lost "$waits" || fail "$1: lost waits: $(comments "$waits")"
}

# ---- memcached: four threads, twelve clients that set, read back, count and delete ----

memcached_load() {
    /usr/bin/python3 - "$1" <<'PY'
import socket, sys, threading
CLIENTS, ROUNDS = 12, 300
errors = []

def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    return s.makefile("rwb")

def ask(f, line, data=b""):
    f.write(line.encode() + b"\r\n" + data)
    f.flush()
    return f.readline().rstrip(b"\r\n")

def client(n):
    f = connect()
    for i in range(ROUNDS):
        key, value = f"k{n}.{i}", b"%d:%d " % (n, i) * 20
        if ask(f, f"set {key} 0 0 {len(value)}", value + b"\r\n") != b"STORED":
            errors.append(key)
        if ask(f, f"get {key}") != f"VALUE {key} 0 {len(value)}".encode():
            errors.append(key)
        elif f.read(len(value)) != value or f.readline() + f.readline() != b"\r\nEND\r\n":
            errors.append(key)
        ask(f, f"incr total {i % 7}")
        if i % 2 and ask(f, f"delete {key}") != b"DELETED":
            errors.append(key)

f = connect()
ask(f, "set total 0 0 1", b"0\r\n")
threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
for t in threads: t.start()
for t in threads: t.join()
ask(f, "get total")
total = int(f.readline())
f.readline()
f.write(b"stats\r\n")
f.flush()
stats = dict(line.split()[1:3] for line in iter(f.readline, b"END\r\n"))
print(len(errors), total, int(stats[b"curr_items"]))
PY
}

use_memcached() {
    serve memcached memcached -u "$(id -un)" -t 4 -U 0 -s "$work/memcached.sock"
    wait_until test -S memcached.sock
    expect_equal "errors, sum and items of memcached" "0 10764 1801" "$(memcached_load "$work/memcached.sock")"
    ends memcached
    # Its own threads wait for work.
    expect_at_least "waits for work" 1 "$(weight_with "$waits" pthread_cond_wait)"
}

# ---- redis: threads for input and output, which spin, and wait for a mutex when there is nothing to do ----

use_redis() {
    serve redis redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --io-threads 3 --io-threads-do-reads yes
    wait_until redis_answers
    redis-benchmark -s "$work/redis.sock" -q -n 20000 -c 50 -P 8 -t set,incr,lpush >/dev/null
    expect_equal "counter" 20000 "$(redis-cli -s "$work/redis.sock" get counter:__rand_int__)"
    expect_equal "list" 20000 "$(redis-cli -s "$work/redis.sock" llen mylist)"
    ends redis
    expect_at_least "waits for work" 1 "$(weight_with "$waits" pthread_cond_wait)"
}
redis_answers() { [ "$(redis-cli -s "$work/redis.sock" ping 2>/dev/null)" = PONG ]; }

# ---- mariadb: a pool of threads, four clients that all change one row ----

sql() { mariadb --no-defaults -S "$work/mariadb.sock" -N -B -e "$1" 2>sql.err; }

use_mariadb() {
    mkdir mariadb
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$work/mariadb" \
        --auth-root-authentication-method=normal >install.log 2>&1 || fail "mariadb-install-db: $(cat install.log)"
    serve mariadb mariadbd --no-defaults --user="$(id -un)" --datadir="$work/mariadb" --socket="$work/mariadb.sock" \
        --skip-networking --thread-handling=pool-of-threads
    wait_until sql 'select 1' >/dev/null
    sql "create database d; create table d.c (k int primary key, n int) engine=innodb; insert into d.c values (1, 0);
        create table d.t (c int, v varchar(40)) engine=innodb"
    clients=
    for c in 1 2 3 4; do
        i=0
        while [ $i -lt 40 ]; do
            echo "insert into d.t values ($c, md5($i)); update d.c set n = n + 1 where k = 1;"
            i=$((i + 1))
        done >statements.$c
        mariadb --no-defaults -S "$work/mariadb.sock" <statements.$c &
        clients="$clients $!"
    done
    for client in $clients; do
        wait "$client" || fail "a client of mariadb"
    done
    expect_equal "rows and sum of mariadb" "160 40 160" \
        "$(sql 'select count(*), count(distinct v), (select n from d.c) from d.t' | tr '\t' ' ')"
    ends mariadb
    # C++ threads that wait for tasks, with a time limit by the monotonic clock.
    expect_at_least "waits for tasks" 1 "$(weight_with "$waits" pthread_cond_clockwait)"
    stacks "$waits" | grep -q tpool:: || fail "nobody waits in tpool: $(stacks "$waits" | head)"
}

# ---- postgres: processes that wait for each other by sockets, and for short by semaphores in shared memory ----

query() { psql -h "$work/postgres" -U postgres -d postgres -Atc "$1" 2>psql.err; }

use_postgres() {
    prepare_postgres postgres
    as env LIBPPROF="block,mutex,subprocesses,file=$work/postgres/%p.%k.pb.gz" \
        LD_PRELOAD="$(for_everybody "$library")" \
        "$postgres/postgres" -D "$work/data" -k "$work/postgres" -c listen_addresses= -c fsync=off >postgres.log 2>&1 &
    server=$!
    started="$started $server"
    wait_until query 'select 1' >/dev/null
    query 'create table c (n int); insert into c values (0)' >/dev/null
    clients=
    for c in 1 2 3 4; do
        i=0
        while [ $i -lt 40 ]; do
            echo 'update c set n = n + 1;'
            i=$((i + 1))
        done >updates.$c
        psql -h "$work/postgres" -U postgres -d postgres -q -f updates.$c &
        clients="$clients $!"
    done
    for client in $clients; do
        wait "$client" || fail "a client of postgres"
    done
    expect_equal "sum of postgres" 160 "$(query 'select n from c')"
    kill -INT "$(head -n 1 data/postmaster.pid)"
    ended=0
    wait $server || ended=$?
    expect_equal "status of postgres: $(cat postgres.log)" 0 "$ended"
    expect_at_least "profiles" 8 "$(find postgres -name '*.block.pb.gz' | wc -l)"
    for file in postgres/*.pb.gz; do
        raw "$file"
    done
}

used=0
for name in memcached redis mariadb postgres; do
    case $name in
    memcached) command -v memcached >/dev/null && [ -x /usr/bin/python3 ] ;;
    redis) command -v redis-server redis-benchmark redis-cli >/dev/null ;;
    mariadb) command -v mariadbd mariadb mariadb-install-db >/dev/null ;;
    postgres) find_postgres && command -v psql >/dev/null ;;
    esac || continue
    use_$name
    used=$((used + 1))
done
[ $used -gt 0 ] || absent "server of those"
echo ok
