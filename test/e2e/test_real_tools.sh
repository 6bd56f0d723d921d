#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# nightly: 2
#
# test_real_tools.sh: xz, sort, sqlite3, git and others that are there: the same output and status as
# without the library, whole stacks.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go awk
unset _

awk 'BEGIN { srand(1); for (i = 0; i < 150000; i++) printf "%d\n", rand() * 2147483647 }' >data
ran=
try() { # NAME LEAST COMMAND...
    if command -v "$3" >/dev/null; then
        same_as_without "$@"
        ran="$ran $1"
    fi
}
# From 5.6 on xz gives up the right to write files.
same_by=arrives
try xz 200 xz -c -T1 -3 data
try xz-threads 200 xz -c -T2 -3 data
same_by=record
# Both have a handler for every fatal signal, SIGPROF among them.
try sort 20 sort -n data
try sort-threads 20 sort -n --parallel=2 -S 4M data
if command -v sqlite3 >/dev/null; then
    cat >work.sql <<'SQL'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 60000)
    insert into t select x, x * 7919 % 60013 from c;
create index i on t(b);
select count(*), sum(a) from t where b between 100 and 50000;
select a, b from t order by b desc, a limit 5;
SQL
    try sqlite 20 sqlite3 :memory: ".read work.sql"
fi
if command -v git >/dev/null; then
    export HOME="$work" GIT_CONFIG_NOSYSTEM=1
    git init -q repository
    awk 'BEGIN {
        for (i = 1; i <= 800; i++) {
            printf "commit refs/heads/work\ncommitter a <a@b> %d +0000\ndata <<X\nchange %d\nX\n", 1600000000 + i, i
            printf "M 644 inline f%d\ndata <<X\n", i % 40
            for (k = 0; k < 60; k++) print i + k
            print "X"
        }
    }' | git -C repository fast-import --quiet
    try git-log 10 git -C repository log -p --stat work
fi
try gzip 50 gzip -c -9 data
try bzip2 50 bzip2 -c data
# shellcheck disable=SC2016 # perl's own
try perl 20 perl -e 'for (1..400000) { $h{$_ % 1000} .= "x"; $s += $_ } print "$s\n"'
try mawk 20 mawk 'BEGIN { for (i = 0; i < 1000000; i++) s += i % 7; print s }'
[ -n "$ran" ] || skip "none of these programs is here"
echo "ok:$ran"
