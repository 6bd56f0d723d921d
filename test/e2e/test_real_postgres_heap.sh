#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_postgres_heap.sh: a server of many processes, each with its heap profile: one for each backend,
# all readable, answers right, clean shutdown.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go psql
find_postgres || absent initdb
prepare_postgres profiles socket
library=$(for_everybody "$library")

ask() { psql -h "$work/socket" -U postgres -d postgres -Atc "$1" 2>errors; }
serve() { # RATE
    rm -f profiles/*
    as env LIBPPROF="heap:$1,subprocesses,file=$work/profiles/%p.pb.gz" LD_PRELOAD="$library" \
        "$postgres/postgres" -D "$work/data" -k "$work/socket" -c listen_addresses= -c fsync=off >log 2>&1 &
    server=$!
    started="$started $server"
    wait_until ask 'select 1' >/dev/null
    expect_equal "sum" 1250025000 "$(ask 'select sum(i) from generate_series(1, 50000) i')"
    ask 'create table t as select i, md5(i::text) m from generate_series(1, 20000) i' >/dev/null
    expect_equal "rows" 20000 "$(ask 'select count(distinct m) from t')"
    for i in 1 2 3 4; do
        ask "select count(*) from t a join t b using (m) where a.i % 4 = $i - 1" >"answer.$i" &
        eval "asked$i=\$!"
    done
    # shellcheck disable=SC2154 # by eval
    wait "$asked1" "$asked2" "$asked3" "$asked4"
    expect_equal "answers" "5000 5000 5000 5000 " "$(cat answer.1 answer.2 answer.3 answer.4 | tr '\n' ' ')"
    ask 'drop table t' >/dev/null
    postmaster=$(head -n 1 data/postmaster.pid)
    kill -INT "$postmaster"
    ended=0
    wait $server || ended=$?
    expect_equal "status of postgres at rate $1: $(cat log)" 0 "$ended"
    expect_at_least "profiles at rate $1" 8 "$(find profiles -name '*.pb.gz' | wc -l)"
    for file in profiles/*.pb.gz; do
        raw "$file"
        ! grep -q lost "$file.raw" || fail "lost samples in $file"
    done
}
serve 64k
serve 1
# Backends plan and sort: the memory contexts of postgres are under their functions.
grep -l AllocSetContextCreateInternal profiles/*.raw >/dev/null || fail "no memory contexts in the profiles"
echo ok
