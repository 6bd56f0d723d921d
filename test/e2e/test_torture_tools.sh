#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, what follows the system calls (test/torture/torture.c) knows glibc only
# timeout: 3600
# nightly: 1
#
# test_torture_tools.sh: likewise xz, gzip, sort, sqlite3, git, gcc, openssl, a shell that executes cat.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/torture.sh
. "$SRC/test/e2e/torture.sh"

awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) printf "%d\n", rand() * 2147483647 }' >data
cat >work.sql <<'SQL'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 8000)
    insert into t select x, x * 7919 % 60013 from c;
create index i on t(b);
select count(*), sum(a) from t where b between 100 and 50000;
SQL
cat >small.c <<'C'
int add(int a, int b) { return a + b; }
C
export HOME="$work" GIT_CONFIG_NOSYSTEM=1

# try NAME OPTIONS COMMAND...: where the command is installed.
ran=
try() {
    command -v "$3" >/dev/null || return 0
    torture "$@"
    ran="$ran $1"
}
try xz "$all_kinds,$profiles" xz -c -T2 -1 --block-size=64KiB data
try gzip "$all_kinds,wall,$profiles" gzip -c -9 data
try sort "$all_kinds,crash,$profiles" sort -n --parallel=2 -S 1M data
try sqlite3 "$all_kinds,interval=5ms,$profiles" sqlite3 :memory: ".read work.sql"
try openssl "$all_kinds,engine=perf,$profiles" openssl dgst -sha256 data
try gcc "cpu:1000,heap:4k,subprocesses,$profiles" gcc -S -o - small.c
try sh "cpu,heap:4k,follow-exec,log=%D/log,file=%D/%e.%s.%k.pb.gz" sh -c 'echo executes; exec cat small.c'
try cat "alloctrace,heap:1,crash,$profiles" cat small.c
if command -v git >/dev/null; then
    git init -q repository
    awk 'BEGIN {
        for (i = 1; i <= 60; i++)
            printf "commit refs/heads/work\ncommitter a <a@b> %d +0000\ndata <<X\nchange %d\nX\nM 644 inline f%d\ndata <<X\n%d\nX\n", 1600000000 + i, i, i % 40, i
    }' | git -C repository fast-import --quiet
    try git "$all_kinds,otel,$profiles" git -C repository log -p --stat work
fi
[ -n "$ran" ] || skip "none of these programs is here"
echo "ok:$ran"
