#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_stripped_names.sh: names of stripped programs on a system without debug files: a name for each
# function of the unwind table, none for two, the same in every run; libc's variants by the name that the
# program calls; stubs. /usr/lib/debug is hidden where it has anything.
# shellcheck source=test/e2e/lib.sh
# timeout: 300
# nightly: 3
. "$SRC/test/e2e/lib.sh"
need cc go readelf strip timeout

# hidden COMMAND...: in a mount namespace in which /usr/lib/debug is empty.
hidden() {
    if [ -z "$(ls -A /usr/lib/debug 2>/dev/null)" ]; then
        "$@"
    else
        # shellcheck disable=SC2016 # the inner shell's arguments
        unshare $hidden_user -m sh -c 'mount -t tmpfs none /usr/lib/debug && exec "$@"' sh "$@"
    fi
}
hidden_user=
hidden true 2>/dev/null || hidden_user=-r
hidden true 2>/dev/null || skip "debug files in /usr/lib/debug, and no mount namespace to hide them in"

# places RAW: for each location whose name is a place or a stub, or that has none: the path of its
# file, its address there, and the name, "-" for none.
places() {
    awk '
        function number(hex,   i, n) {
            sub(/^0x/, "", hex)
            for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        /^Locations/ { part = 2; next }
        /^Mappings/  { part = 3; next }
        part == 2 && $3 ~ /^M=/ { n++; address[n] = number($2); mapping[n] = substr($3, 3); name[n] = NF > 3 ? $4 : "-" }
        part == 3 && /^[0-9]+: 0x/ {
            split($2, range, "/"); id = $1; sub(/:/, "", id)
            start[id] = number(range[1]) - number(range[3]); path[id] = $3
        }
        END {
            for (i = 1; i <= n; i++)
                if (name[i] ~ /^\[.*\]\+0x|^-$/ && path[mapping[i]] ~ /^\//)
                    printf "%s %.0f %s\n", path[mapping[i]], address[i] - start[mapping[i]], name[i]
        }' "$1"
}

# starts_of FILE: its unwind table: for each function its start and its end as file offsets, and its start
# as an address. Both differ where a linker has moved the segment. Behind them the code at the file's entry, as it is known:
# the first instructions of ld.so are in no table.
starts_of() {
    LC_ALL=C readelf -lW "$1" | awk '/^ *LOAD/ && / R E / { print "segment", $2, $3, $5 }' >table
    LC_ALL=C readelf --debug-dump=frames "$1" 2>/dev/null |
        sed -n 's/^.* FDE .*pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\)$/\1 \2/p' | LC_ALL=C sort -u >>table
    LC_ALL=C readelf -hW "$1" | awk '/Entry point address:/ && $4 != "0x0" { print "entry", $4 }' >>table
    awk '
        function number(hex,   i, n) {
            sub(/^0x/, "", hex)
            for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        $1 == "entry" { printf "%.0f %.0f %s\n", number($2) - moved, number($2) + 48 - moved, $2; next }
        $1 == "segment" { moved = number($3) - number($2); next }
        { hex = $1; sub(/^0+/, "", hex); printf "%.0f %.0f 0x%s\n", number($1) - moved, number($2) - moved, hex }' table
}

# expect_told_apart RAW: each place is the start of the entry that holds the address, or the file's; an address without a
# name is in no entry.
expect_told_apart() {
    places "$1" >of_places
    cut -d ' ' -f 1 of_places | sort -u >paths
    while read -r expected_path; do
        starts_of "$expected_path" >starts
        awk -v path="$expected_path" -v base="${expected_path##*/}" '
            NR == FNR { low[++n] = $1; high[n] = $2; start[n] = $3; next }
            $1 == path {
                wanted = "-"
                for (i = 1; i <= n; i++) if ($2 >= low[i] && $2 < high[i]) { wanted = "[" base "]+" start[i]; break }
                if ($3 != wanted) { printf "%s at file offset %d: %s, not %s\n", path, $2, $3, wanted; bad = 1 }
            }
            END { exit bad }' starts of_places || fail "names of places in $1"
    done <paths
}

cat >calls.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char a[4096], b[4096];
static volatile size_t sum;

__attribute__((noinline, noclone)) static void long_texts(void)
{
    for (int i = 0; i < 1000; i++)
        sum += strlen(a) + (size_t)strcmp(a, b) + (size_t)strcmp(b, a) + (size_t)strcmp(a, b);
}
__attribute__((noinline, noclone)) static void short_texts(void)
{
    for (int i = 0; i < 100000; i++)
        sum += strlen(a + sizeof(a) - 2);
}
void nothing(void);
__attribute__((noinline, noclone)) static void stubs_alone(void)
{
    for (int i = 0; i < 300000; i++)
        nothing();
}
int main(void)
{
    memset(a, 'x', sizeof(a) - 1);
    memset(b, 'x', sizeof(b) - 1);
    for (clock_t begin = clock(); clock() - begin < 3 * CLOCKS_PER_SEC / 2;) {
        long_texts();
        short_texts();
        stubs_alone();
    }
    return 42;
}
C

# A program with lazy stubs, and one whose linker has put them elsewhere, at addresses that are fixed.
echo 'void nothing(void) {}' >nothing.c
cc -O2 -shared -fPIC -o libnothing.so nothing.c
cc -O1 -fno-builtin -fplt -o lazy calls.c ./libnothing.so -Wl,-z,lazy
cc -O1 -fno-builtin -fplt -no-pie -o fixed calls.c ./libnothing.so -Wl,-z,now
cp lazy lazy_symbols
strip lazy fixed
for program in lazy fixed; do
    for run in 1 2; do
        expect_equal "status of $program" 42 "$(status hidden env LIBPPROF="cpu:1000,file=$work/$program.$run.pb.gz" \
            LD_PRELOAD="$library" "./$program")"
        raw $program.$run.pb.gz
        expect_told_apart $program.$run.pb.gz.raw
        total=$(weight $program.$run.pb.gz.raw)
        for name in strlen strcmp; do
            expect_at_least "samples of $name in $program" "$(percent "$total" 1)" \
                "$(stacks $program.$run.pb.gz.raw | awk -F '\t' -v name=$name '$2 == name { n += $1 } END { print n + 0 }')"
        done
        expect_at_least "samples of nothing@plt in $program" 1 \
            "$(stacks $program.$run.pb.gz.raw | awk -F '\t' '$2 == "nothing@plt" { n += $1 } END { print n + 0 }')"
        # main and its three functions, by the places that are on the stacks of both runs
        # (what runs once may have a sample in one of them only)
        stacks $program.$run.pb.gz.raw | awk -F '\t' -v module="[$program]" '
            { for (i = 2; i <= NF; i++) if (index($i, module) == 1) weight[$i] += $1 }
            END { for (name in weight) if (weight[name] > 20) print name }' | sort >$program.$run.names
        expect_at_least "functions of $program" 4 "$(wc -l <$program.$run.names)"
    done
    expect_equal "names of $program in two runs" "$(cat $program.1.names)" "$(cat $program.2.names)"
done

# A place is the address that the symbol has before strip takes it away.
for name in long_texts short_texts stubs_alone main; do
    address=$(LC_ALL=C readelf -sW lazy_symbols | awk -v name=$name '$8 == name { sub(/^0+/, "", $2); print $2 }')
    expect_contains "place of $name" lazy.1.names "[lazy]+0x$address"
done

# With a symbol table nothing is a place, and a stub has its name all the same. With debug files or
# without, strlen is told from strcmp.
cp lazy_symbols lazy
record symbols.pb.gz ./lazy || true
raw symbols.pb.gz
expect_told_apart symbols.pb.gz.raw
stacks symbols.pb.gz.raw >symbols.stacks
! grep -q '\[lazy\]' symbols.stacks || fail "a program with symbols has places: $(cat symbols.stacks)"
for name in 'nothing@plt' strlen strcmp; do
    grep -Eq "	(|__)$name(_[a-z0-9_]*)?	" symbols.stacks || fail "no $name in $(cat symbols.stacks)"
done

# The text of a program that reads it: an address alone, as Go shows one without a name; all stacks: the place.
cat >hot.c <<'C'
#include <stdlib.h>
__attribute__((noinline, noclone)) static void *leaves_blocks(size_t size) { return malloc(size); }
int main(void)
{
    static void *volatile last;
    for (int i = 0; i < 100; i++) last = leaves_blocks(1000);
    return 42;
}
C
cc -O1 -fno-builtin -fno-optimize-sibling-calls -o hot hot.c
address=$(LC_ALL=C readelf -sW hot | awk '$8 == "leaves_blocks" { sub(/^0+/, "", $2); print $2 }')
strip hot
expect_equal "status of hot" 42 "$(status hidden env LIBPPROF="alloctrace,log=$work/trace" LD_PRELOAD="$library" ./hot)"
grep -Eq "^	0x[0-9a-f]+ \[hot\]\+0x$address\+0x[0-9a-f]+ .*/hot\+0x" trace ||
    fail "no place in the trace: $(head -n 20 trace)"

# Programs of the distribution: as many rows as there are functions.
head -c 3000000 /dev/urandom >noise
od -An -tx1 noise | head -n 100000 >one.txt
sed 's/a/b/' one.txt >two.txt
for command in "gzip -c one.txt" "xz -0 -T1 -c one.txt" "git diff --no-index --stat one.txt two.txt"; do
    name=${command%% *}
    command -v "$name" >/dev/null && ! is_of_other_libc "$(command -v "$name")" || continue
    # xz ends in a sandbox, in which it may read and write no file.
    # shellcheck disable=SC2086 # words
    hidden "$BUILD/bin/cpprof" record -F 1000 -o "$name.pb.gz" -- $command >/dev/null 2>&1 || true
    raw "$name.pb.gz"
    expect_told_apart "$name.pb.gz.raw"
    ! go_pprof -top "$name.pb.gz" 2>/dev/null | grep -E "\[($name|[a-z0-9.-]*\.so[0-9.]*)\]$" ||
        fail "a row of $name is a whole module"
done
echo ok
