#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 600
#
# test_real_heap.sh: a database, an interpreter, a compiler, git and a C++ program with the heap profile at
# 512k, 64k and with every block: same output and status, a profile that can be read, whole stacks, none
# lost. Where a program says itself how much it has allocated, that is what the profile says.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc git sqlite3
python=/usr/bin/python3
[ -x $python ] || absent "$python"

# same_with_heap NAME COMMAND...: the last profile is NAME.pb.gz, of every block.
same_with_heap() {
    name=$1
    shift
    plain=0
    "$@" >"$name.plain" 2>"$name.plain.err" || plain=$?
    for rate in 512k 64k 1; do
        found=0
        rm -f "$name".*pb.gz
        preload "heap:$rate,peak,file=$work/$name.%k.pb.gz" "$@" >"$name.out" 2>"$name.out.err" || found=$?
        expect_equal "status of $name at $rate" "$plain" "$found"
        cmp "$name.plain" "$name.out" >&2 || fail "$name has another output at $rate"
        expect_equal "messages of $name at $rate" "$(cat "$name.plain.err")" "$(cat "$name.out.err")"
        for kind in heap peak; do
            raw "$name.$kind.pb.gz"
            ! grep -q lost "$name.$kind.pb.gz.raw" || fail "$name at $rate lost samples"
        done
        # "libpprof: of N blocks sampled M have whole stacks, K are deeper than the buffer"
        comments "$name.heap.pb.gz.raw" | awk -v name="$name" '/blocks? sampled/ {
            deep = 0
            for (i = 1; i < NF; i++) if ($(i + 1) ~ /^(is|are)$/ && $(i + 2) == "deeper") deep = $i
            sampled = $3; whole = $6
            if (whole + deep < sampled * 0.99 - 2) exit 1
        }' || fail "stacks of $name at $rate: $(comments "$name.heap.pb.gz.raw")"
    done
}

cat >work.sql <<'SQL'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
    insert into t select i, 'row number ' || i, i * 1.5 from n;
create index by_text on t(b);
select count(*), sum(c), max(b) from t where b like '%9%';
select substr(b, 1, 12), count(*) from t group by 1 order by 2 desc, 1 limit 3;
SQL
same_with_heap sqlite sqlite3 :memory: '.read work.sql'
echo '.stats on' | cat work.sql - >stats.sql
echo 'select 1;' >>stats.sql
# Its own high-water mark counts its blocks, rounded up to 8 bytes.
most=$(sqlite3 :memory: <stats.sql | sed -n 's/^Memory Used: .*(max \([0-9]*\)).*/\1/p')
found=$(field 4 "$(blocks_of sqlite.peak.pb.gz.raw)")
expect_near "the most that sqlite had in use" "$most" "$found" "$(percent "$most" 6)"
# It closes its database, and frees nearly all.
expect_at_least "bytes in use by sqlite at the end below 100000" 0 \
    "$((100000 - $(field 4 "$(blocks_of sqlite.heap.pb.gz.raw)")))"

cat >work.py <<'PYTHON'
import collections, json, re, sys, threading
data = [{"a": i, "b": str(i) * 3, "c": [i] * 5} for i in range(5000)]
text = json.dumps(data)
print(len(json.loads(text)), len(re.findall(r"(\d+)5", text)), collections.Counter(text).most_common(2))
def work(): return sum(len(str(i)) for i in range(20000))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
big = bytearray(50 << 20)
pointers = [None] * 1000000
print(len(big), len(pointers))
sys.exit(17)
PYTHON
same_with_heap python $python work.py
expect_equal "status of python" 17 "$found"
expect_at_least "what python had in use at the most" $((50 << 20)) \
    "$(field 4 "$(blocks_of python.peak.pb.gz.raw)")"
expect_at_least "blocks of a million pointers" 1 \
    "$(blocks python.heap.pb.gz.raw | awk '$5 == 8000000 { sum += $1 } END { print sum + 0 }')"

cat >work.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *left, *right; int key; };
static struct node *add(struct node *n, int key) {
    if (!n) { n = calloc(1, sizeof *n); n->key = key; return n; }
    if (key < n->key) n->left = add(n->left, key); else n->right = add(n->right, key);
    return n;
}
int main(void) { struct node *n = NULL; for (int i = 0; i < 1000; i++) n = add(n, i * 7919 % 1000); printf("%d\n", n->key); }
C
cc -E -o work.i work.c
same_with_heap compiler "$(cc -print-prog-name=cc1)" -quiet -fpreprocessed -O2 -o - work.i
expect_at_least "blocks of the compiler" 1000 "$(field 1 "$(blocks_of compiler.heap.pb.gz.raw)")"

git init -q repository
cp work.* repository
git -C repository add .
git -C repository -c user.name=a -c user.email=a@b commit -qm "all of it"
same_with_heap git git -C repository log -p --stat
same_with_heap repack git -C repository fsck --full

same_with_heap maps "$victims/heap_maps"
echo ok
