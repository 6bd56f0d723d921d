#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_names.sh: `cpprof top --demangle` shows overloads and template instances apart on
# demand, as both Go tools do; and functions without a name are reported once, with the packages that have the names.
# shellcheck source=test/e2e/lib.sh
# libc: glibc, Debian has no compiler of C++ for musl
# timeout: 300
# nightly: 1
. "$SRC/test/e2e/lib.sh"
need c++ go strip
export TZ=UTC
cpprof=$BUILD/bin/cpprof

cat >overloads.cc <<'C'
#include <ctime>
#include <string>
namespace app {
template <class T> __attribute__((noinline)) T hot(T x)
{
    volatile T s = x;
    for (int i = 0; i < 1000000; i++) s = s + T(i & 3);
    return s;
}
struct worker {
    __attribute__((noinline)) void run(int n) { volatile int s = 0; while (n-- > 0) s = n; }
    __attribute__((noinline)) void run(const std::string &t) { run(1000000 + (int)t.size()); }
};
}
int main()
{
    /* Each for so long that samples meet it, whatever a turn of it takes. */
    const clock_t third = CLOCKS_PER_SEC / 3;
    for (clock_t begin = clock(); clock() - begin < third;) app::hot<double>(1.5);
    for (clock_t begin = clock(); clock() - begin < third;) app::hot<int>(2);
    for (clock_t begin = clock(); clock() - begin < third;) app::worker().run("text");
    return 42;
}
C
c++ -O1 -o overloads overloads.cc
record p.pb.gz ./overloads || true

# body FILE: the table, without the lines before it, in which each tool prints times in its own way.
body() { sed -n '/^ *flat  flat%/,$p' "$1"; }

for mode in simple templates full none; do
    "$cpprof" top --demangle=$mode p.pb.gz >ours
    body ours >$mode.ours
    for go in go /usr/bin/go; do
        command -v $go >/dev/null || continue
        theirs=$mode
        [ $mode != simple ] || theirs=default
        # shellcheck disable=SC2094 # a file is not a mode
        $go tool pprof -symbolize=remote:demangle=$theirs -top p.pb.gz >theirs 2>/dev/null || fail "$go $mode"
        body theirs >$mode.theirs
        # Go 1.19 shows full names where none are asked for.
        { [ $mode = none ] && cmp -s full.theirs none.theirs; } || cmp -s $mode.ours $mode.theirs ||
            fail "--demangle=$mode is not what $go shows: $(diff $mode.theirs $mode.ours)"
    done
done
"$cpprof" top p.pb.gz >ours
body ours | cmp -s - simple.ours || fail "the default is not simple"
go_pprof -top p.pb.gz >theirs 2>/dev/null
body theirs | cmp -s - simple.ours || fail "the default is not that of go tool pprof"
expect_contains simple simple.ours " app::hot"
for name in "app::hot<double>" "app::hot<int>"; do
    ! grep -qF "$name" simple.ours || fail "simple has $name"
    expect_contains templates templates.ours " $name"
done
expect_contains full full.ours " app::worker::run(int)"
expect_contains none none.ours " _ZN3app3hotIdEET_S1_"
PATH=$work/none "$cpprof" top --demangle=full p.pb.gz >ours 2>errors
expect_contains "without c++filt" errors "expected c++filt, found none; install binutils"
body ours | cmp -s - none.ours || fail "without c++filt symbols do not stay as they are"
expect_equal "status of a mode that does not exist" 2 "$(status "$cpprof" top --demangle=most p.pb.gz 2>errors)"
expect_contains "a mode that does not exist" errors "--demangle: expected simple, templates, full, none or default"

# ---- functions without a name

mkdir -p records/info
strip overloads
record stripped.pb.gz ./overloads || true
echo "$PWD/overloads" >records/info/made-up.list
echo "Package: made-up" >records/status
export CPPROF_DPKG="$PWD/records"
"$cpprof" top stripped.pb.gz >out 2>errors
[ ! -s errors ] || fail "a warning is printed to a file: $(cat errors)"
"$cpprof" record -o r.pb.gz ./overloads 2>summary || true
expect_contains "the summary of record" summary ": made-up-dbgsym"
expect_contains "the summary of record" summary "apt install made-up-dbgsym"
expect_equal "number of warnings" 1 "$(grep -c 'without a name' summary)"
export CPPROF_DPKG="$PWD/none"
"$cpprof" record -o r.pb.gz ./overloads 2>summary || true
expect_contains "the summary without dpkg" summary "overloads: build id"
expect_contains "the summary without dpkg" summary "DEBUGINFOD_URLS"
if command -v script >/dev/null; then
    script -qec "$cpprof top stripped.pb.gz" /dev/null >terminal </dev/null
    expect_contains "top on a terminal" terminal "is in functions without a name"
    script -qec "$cpprof top p.pb.gz" /dev/null >terminal </dev/null
    ! grep -q "without a name" terminal || fail "a profile with names: $(cat terminal)"
fi
echo ok
