#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 300
#
# test_http_postgres.sh: postgres with http=: the postmaster answers, the processes that it forks have no server and none of
# its descriptors; queries and the shutdown are as ever.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need psql python3
find_postgres || absent initdb
prepare_postgres socket
for_everybody "$BUILD/lib/libpprof-http.so.0" >/dev/null # found beside the other one
library=$(for_everybody "$library")

query() { psql -h "$work/socket" -U postgres -d postgres -Atc "$1" 2>errors; }
as env LIBPPROF=http=127.0.0.1:0,heap,subprocesses LD_PRELOAD="$library" \
    "$postgres/postgres" -D "$work/data" -k "$work/socket" -c listen_addresses= -c fsync=off >log 2>&1 &
server=$!
started="$started $server"
wait_until query 'select 1' >/dev/null
postmaster=$(head -n 1 data/postmaster.pid)
url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' log)

python3 "$ask" "$url/" >index
expect_contains "who answers" index "<p>Process $postmaster, postgres,"
query 'select pg_sleep(1000)' >/dev/null 2>&1 &
sleeper=$!
started="$started $sleeper"
sleeps() { [ "$(query "select count(*) from pg_stat_activity where wait_event = 'PgSleep'")" = 1 ]; }
wait_until sleeps
backend=$(query "select pid from pg_stat_activity where wait_event = 'PgSleep'")
expect_equal "threads of a backend" 1 "$(find "/proc/$backend/task" -mindepth 1 -maxdepth 1 | wc -l)"
sockets_of() { find "/proc/$1/task" -path '*/fd/*' -lname 'socket:*' -printf '%l\n' | sort; }
server_socket=$(awk -v port="$(printf ':%04X' "$(echo "$url" | sed 's|.*:\([0-9]*\)/.*|\1|')")" \
    '$2 ~ port "$" && $4 == "0A" { print $10 }' /proc/net/tcp)
sockets_of "$postmaster" >of_postmaster
sockets_of "$backend" >of_backend
expect_contains "sockets of the postmaster" of_postmaster "[$server_socket]"
! grep -qF "[$server_socket]" of_backend || fail "the backend has the server's socket: $(cat of_backend)"
for name in heap thread 'profile?seconds=1' 'thread?debug=2'; do
    expect_equal "status of $name" 200 "$(status_of "/$name")"
done
expect_equal "sum" 1250025000 "$(query 'select sum(i) from generate_series(1, 50000) i')"
query "select pg_terminate_backend($backend)" >/dev/null
kill -INT "$postmaster"
wait "$server" || fail "postgres ends with $?: $(cat log)"
expect_equal "messages of the library" 1 "$(grep -c '^libpprof: ' log)"
echo ok
