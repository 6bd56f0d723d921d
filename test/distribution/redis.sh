#!/bin/sh
# SPDX-License-Identifier: MIT
#
# redis.sh: Redis's own tests, from the distribution's source package, on the redis-server that is installed. They are
# written in Tcl, which is not profiled: only the servers that they start are. A unit is a file of tests.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

for program in redis-server redis-cli redis-benchmark tclsh; do
    command -v $program >/dev/null || {
        echo "there is no $program: install redis-server, redis-tools and tcl" >&2
        exit 1
    }
done
debian_source redis
LIMIT=${REDIS_LIMIT:-900}

units() { sed -n '/^set ::all_tests {/,/^}/ s,^ *\([a-z].*/.*\),\1,p' "$WORK/redis/tests/test_helper.tcl"; }

# A program of this name that is the server with or without the library: it has the server's process id.
server() { # HOW
    echo '#!/bin/sh'
    [ "$1" = plain ] || echo "export LIBPPROF='$OPTIONS' LD_PRELOAD='$library'"
    echo "exec '$(command -v redis-server)' \"\$@\""
}

run_unit() {
    mkdir src
    cp -r "$WORK/redis/tests" "$WORK/redis/redis.conf" "$WORK/redis/sentinel.conf" .
    server "$1" >src/redis-server
    chmod +x src/redis-server
    for name in redis-cli redis-benchmark redis-check-rdb redis-check-aof redis-sentinel; do
        ln -s "$(command -v $name)" src/$name
    done
    # Jobs have ports of their own: $JOB is aa, ab, ...
    port=$((21111 + $(printf %d "'${JOB#a}") % 32 * 200))
    with plain tclsh tests/test_helper.tcl --single "$2" --clients 1 --baseport $port --portcount 100
}

# "[ok]: NAME (12 ms)", "[err]: NAME in tests/unit/x.tcl", in colours
outcomes() {
    sed 's/\x1b\[[0-9;]*m//g' | sed -n -e 's/^\[ok\]: \(.*\) ([0-9]* ms).*/ok \1/p' -e 's/^\[ok\]: \(.*\)/ok \1/p' \
        -e 's,^\[err\]: \(.*\) in tests/.*,failed \1,p' -e 's/^\[exception\]: \(.*\)/failed \1/p'
}

compare_suite
