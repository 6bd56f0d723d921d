#!/bin/sh
# SPDX-License-Identifier: MIT
#
# postgresql.sh: PostgreSQL's regression tests, from the distribution's source package, on a server that is built of
# the same source. They depend on each other: there is one unit, of a server and the whole schedule, in which a test
# is a file of SQL. ONLY="boolean char" runs these alone, after test_setup.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

debian_source postgresql-15
source=$WORK/postgresql-15
LIMIT=${POSTGRESQL_LIMIT:-3600}
JOBS=1
SQL=${ONLY:-}
ONLY=
[ -d "$WORK/installed" ] || (
    echo "building in $source"
    cd "$source"
    [ -e config.status ] || ./configure --prefix="$WORK/installed" --without-readline --without-zlib CFLAGS=-O1
    make -j "$(nproc)" all && make -C src/test/regress all && make install
) >"$WORK/build.log" 2>&1 || {
    rm -rf "$WORK/installed"
    tail -n 20 "$WORK/build.log" >&2
    exit 1
}
demote

units() { echo server; }

# A server of this name, with the library or without. It, and what it forks, is what is profiled: not the clients.
wrapper() { # HOW PROGRAM
    echo '#!/bin/sh'
    [ "$1" = plain ] || echo "export LIBPPROF='$OPTIONS' LD_PRELOAD='$library'"
    echo "exec '$2' \"\$@\""
}

run_unit() {
    regress=$source/src/test/regress
    mkdir bin
    ln -s "$WORK"/installed/bin/* bin/
    rm bin/postgres
    wrapper "$1" "$WORK/installed/bin/postgres" >bin/postgres
    chmod +x bin/postgres
    chosen=--schedule=$regress/parallel_schedule
    [ -z "$SQL" ] || chosen="test_setup $SQL"
    # shellcheck disable=SC2086 # several words
    with plain "$regress/pg_regress" --inputdir="$regress" --outputdir="$PWD" --bindir="$PWD/bin" --dlpath="$regress" \
        --temp-instance="$PWD/instance" --max-concurrent-tests=8 --encoding=UTF8 --no-locale $chosen
    chmod -R a+rX .
}

# "test boolean    ... ok   123 ms", "     char   ... FAILED", "parallel group (2 tests): ..."
outcomes() {
    sed -n -e 's/^\(test\|    \) *\([a-z_0-9.]*\) *\.\.\. ok .*/ok \2/p' \
        -e 's/^\(test\|    \) *\([a-z_0-9.]*\) *\.\.\. \(FAILED\|failed\).*/failed \2/p'
}

compare_suite
