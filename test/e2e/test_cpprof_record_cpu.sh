#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_cpu.sh: `cpprof record` with the real library, found beside the command: the
# function that uses most CPU time is the first row, also in subprocesses, and `go tool pprof` agrees.
set -u

: "${BUILD:?the build directory}"
cpprof=$BUILD/bin/cpprof
victim=$BUILD/test/cpprof/victim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# What Go has built once is there also where $HOME is another folder.
GOCACHE=${GOCACHE:-$(go env GOCACHE 2>/dev/null || true)}
export GOCACHE TZ=UTC HOME="$work" PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work"
unset LIBPPROF LIBPPROF_LIBRARY LD_PRELOAD
[ -e "$BUILD/lib/libpprof.so.0" ] || { echo "skipped: libpprof.so.0 is not built"; exit 77; }

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

first_row() {
    "$cpprof" top "$1" | sed '1,/flat%/d' | head -1
}

"$cpprof" record -F 500 -o one.pb.gz "$victim" burn 1 2>err || fail "record: $(cat err)"
grep -q "wrote one.pb.gz (1 process)" err || fail "record: $(cat err)"
first_row one.pb.gz | grep -q "burn_more$" || fail "one process: $("$cpprof" top one.pb.gz)"
"$cpprof" top one.pb.gz | grep -q "burn_less$" || fail "one process: $("$cpprof" top one.pb.gz)"
"$cpprof" top one.pb.gz | grep -q "^File: victim$" || fail "one process: $("$cpprof" top one.pb.gz)"

# Reports show a program that is started by a symbolic link by the name of its file, and that is said unless the names are akin.
real=$(realpath "$victim")
ln -s "$victim" nickname
ln -s "$victim" vic
ln "$victim" hard 2>/dev/null || cp "$victim" hard
"$cpprof" record -o nickname.pb.gz ./nickname burn 0.1 2>err || fail "a link: $(cat err)"
grep -qxF "cpprof: ./nickname is a link to $real: reports show it by that name" err || fail "a link: $(cat err)"
"$cpprof" top nickname.pb.gz | grep -q "^File: victim$" || fail "a link: $("$cpprof" top nickname.pb.gz)"
for program in ./vic ./hard "$victim"; do
    "$cpprof" record -o name.pb.gz "$program" burn 0.1 2>err || fail "$program: $(cat err)"
    ! grep -q "is a link" err || fail "$program: $(cat err)"
done
"$cpprof" top name.pb.gz >out || fail "$(cat out)"

"$cpprof" record -o many.pb.gz \
    sh -c "\"$victim\" burn 0.5 & \"$victim\" burn 0.5; wait" 2>err || fail "record: $(cat err)"
grep -q "processes)" err || fail "subprocesses: $(cat err)"
first_row many.pb.gz | grep -q "burn_more$" || fail "subprocesses: $("$cpprof" top many.pb.gz)"

# The profile names the engine that was used; a refusal is printed at once.
"$cpprof" record -F 2000 --engine=timer -o timer.pb.gz "$victim" burn 0.3 2>err || fail "timer: $(cat err)"
"$cpprof" top timer.pb.gz | grep -q "^libpprof: timer engine; of" || fail "$("$cpprof" top timer.pb.gz)"
"$cpprof" record -F 2000 --engine=perf -o perf.pb.gz "$victim" burn 0.3 2>err || fail "perf: $(cat err)"
refusal="^libpprof: engine perf was refused to 1 thread (perf_event_open: "
if ! "$cpprof" top perf.pb.gz | grep -q "^libpprof: perf engine; of"; then
    grep -q "$refusal" err || fail "perf, refused here: $(cat err)"
fi
confined="$BUILD/test/victims/confined before refuse perf_event_open --"
if $confined true; then
    $confined "$cpprof" record -F 2000 --engine=perf -o no.pb.gz "$victim" burn 0.3 2>err ||
        fail "perf under a filter: $(cat err)"
    grep -q "$refusal" err || fail "perf under a filter: $(cat err)"
    "$cpprof" top no.pb.gz | grep -q "$refusal" || fail "perf under a filter: $("$cpprof" top no.pb.gz)"
fi

# A program that profiles itself: its own start is refused, and its stop ends the profile of `cpprof record`, which says both.
if command -v cc >/dev/null; then
    cat >own.c <<'EOC'
#include <pprof.h>
#include <string.h>
static volatile unsigned long turns;
__attribute__((noinline)) static void works(void) { for (turns = 0; turns < 100000000; turns++) {} }
int main(int argc, char **argv)
{
    (void)argv;
    int refused = pprof_start_cpu_profile(pprof_writer_fd(1));
    works();
    if (argc > 1) pprof_stop_cpu_profile();
    return refused == 0 ? 0 : 42;
}
EOC
    cc -O1 -I "$SRC/include" -o own own.c -L"$BUILD/lib" -lpprof -Wl,-rpath,"$BUILD/lib" || fail "own.c"
    refusal="^libpprof: 1 profile that the program started by itself was refused (EBUSY), as this one ran: what it wrote of it is empty$"
    early="^libpprof: 1 call of pprof_stop_cpu_profile by the program ended this profile early$"
    "$cpprof" record -o own.pb.gz ./own >written 2>err
    [ $? = 42 ] || fail "a program that profiles itself is not refused: $(cat err)"
    [ ! -s written ] || fail "a refused profile is not empty"
    grep -q "$refusal" err || fail "a refused profile: $(cat err)"
    ! grep -q "$early" err || fail "a profile that nobody stopped: $(cat err)"
    first_row own.pb.gz | grep -q "works$\|main$" || fail "the profile of record: $("$cpprof" top own.pb.gz)"
    "$cpprof" record -o own.pb.gz ./own stop >written 2>err
    grep -q "$refusal" err && grep -q "$early" err || fail "a profile that the program stopped: $(cat err)"
    "$cpprof" record -o none.pb.gz "$victim" burn 0.1 2>err
    ! grep -q "refused\|early" err || fail "a program that does not profile itself: $(cat err)"
fi

if command -v go >/dev/null; then
    for profile in one many; do
        go tool pprof -symbolize=remote -top $profile.pb.gz >printed 2>err || fail "go tool pprof: $(cat err)"
        awk -f "$SRC/test/e2e/pprof_time.awk" printed >theirs
        "$cpprof" top --style go1.19 $profile.pb.gz >mine
        cmp -s mine theirs || fail "$profile: $(diff theirs mine)"
    done
fi
