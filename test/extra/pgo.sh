#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pgo.sh: the table of docs/PGO.md: three programs from Debian's sources, built by clang -O2, with a profile of
# `cpprof convert -o FILE.afdo-text`, and with clang's own instrumentation. Not part of ./test.sh: it needs the network and
# some minutes of two processors.
#
#   BUILD=$PWD/build/release SRC=$PWD [WORK=FOLDER] [ROUNDS=15] sh test/extra/pgo.sh [sqlite bzip2 lua]
#
# Each round runs all builds once, in another order; the user time of a build is compared with that of -O2 in the same
# round. Prints the medians of these ratios: "PROGRAM sampled RATIO instrumented RATIO". FLAGS are further ones for the
# build with samples, instead of those of docs/PGO.md. Needs clang, llvm-profdata, dpkg-source and python3.
set -eu
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
WORK=${WORK:-$(mktemp -d)} ROUNDS=${ROUNDS:-15} FLAGS=${FLAGS--mllvm -sample-profile-use-profi}
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
export LC_ALL=C
[ $# -gt 0 ] || set -- sqlite bzip2 lua
# What both_ways.sh asks for.
here=$SRC/test/distribution suite=pgo
# shellcheck source=test/distribution/both_ways.sh
. "$SRC/test/distribution/both_ways.sh"
profdata=$(command -v llvm-profdata || find /usr/bin -name 'llvm-profdata-*' | sort -V | tail -n 1)
debug='-g -fdebug-info-for-profiling'
profiled="$debug -fno-optimize-sibling-calls -mllvm -sink-common-insts=0 -mllvm -hoist-common-insts=0 -mllvm -enable-tail-merge=0"

# build PROGRAM OUT FLAGS...
build() {
    program=$1 out=$WORK/$2
    shift 2
    case $program in
    sqlite) (cd "$WORK/sqlite3" && clang -O2 "$@" -w -I. -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
        sqlite3.c test/speedtest1.c -o "$out" -lm) ;;
    bzip2) (cd "$WORK/bzip2" && clang -O2 "$@" -w -D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c crctable.c \
        randtable.c compress.c decompress.c bzlib.c -o "$out") ;;
    lua) (cd "$WORK/lua5.4/src" && find . -name '*.c' ! -name luac.c -exec clang -O2 "$@" -w -DLUA_USE_POSIX -lm -o "$out" {} +) ;;
    esac
}

# load PROGRAM: writes the words of its load, one a line.
load() {
    case $1 in
    sqlite) printf '%s\n' --size 100 --memdb "$WORK/unused.db" ;;
    bzip2) printf '%s\n' -kc "$WORK/data" ;;
    lua) printf '%s\n' "$WORK/bench.lua" ;;
    esac
}

# run PROGRAM COMMAND...: the load by the command.
run() {
    program=$1
    shift
    load "$program" >"$WORK/words"
    while read -r word; do
        set -- "$@" "$word"
    done <"$WORK/words"
    "$@" >/dev/null
}

sources() {
    debian_source sqlite3
    debian_source bzip2
    debian_source lua5.4
    # The package's rules make this header.
    echo '#define DEB_HOST_MULTIARCH "lib"' >"$WORK/lua5.4/src/lua5.4-deb-multiarch.h"
    # The amalgamation is made where the source has it only in parts.
    [ -e "$WORK/sqlite3/sqlite3.c" ] || (cd "$WORK/sqlite3" && ./configure -q && make -s sqlite3.c)
    find "$WORK/sqlite3/src" "$WORK/lua5.4/src" -name '*.[ch]' -exec cat {} + 2>/dev/null | head -c 4000000 >"$WORK/data"
    cat >"$WORK/bench.lua" <<'LUA'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 200000 do t[i] = (i * 7919) % 100003 end
table.sort(t)
local words = {}
for i = 1, 100000 do words[#words + 1] = string.format("%d:%s", i, ("x"):rep(i % 10)) end
local count = {}
for w in table.concat(words, " "):gmatch("%d+:x*") do count[#w] = (count[#w] or 0) + 1 end
local P = {} P.__index = P
function P.new(x) return setmetatable({x = x}, P) end
function P:add(o) return P.new(self.x + o.x) end
local sum = P.new(0)
for i = 1, 1000000 do sum = sum:add(P.new(i)) end
print(fib(32), sum.x, count[7])
LUA
}

measure() {
    cat >"$WORK/pairs.py" <<'PYTHON'
import resource, statistics, subprocess, sys

program, rounds, builds = sys.argv[1], int(sys.argv[2]), sys.argv[3].split()
words = open("words").read().split("\n")[:-1]

def user_time(build):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["./%s.%s" % (program, build)] + words, stdout=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

ratios = {build: [] for build in builds[1:]}
for i in range(rounds):
    k = i % len(builds)
    times = {build: user_time(build) for build in builds[k:] + builds[:k]}
    for build in ratios:
        ratios[build].append(times[builds[0]] / times[build])
for build, found in ratios.items():
    found.sort()
    print("%s %s %.3f (quarters %.3f to %.3f)" % (program, build, statistics.median(found),
                                                  found[len(found) // 4], found[-1 - len(found) // 4]))
PYTHON
    (cd "$WORK" && python3 pairs.py "$1" "$ROUNDS" "plain sampled instrumented")
}

sources
for name in "$@"; do
    # shellcheck disable=SC2086 # flags are words
    {
        build "$name" "$name.plain" $debug
        build "$name" "$name.profiled" $profiled
        for i in 1 2 3 4 5 6 7 8 9 10; do
            run "$name" "$BUILD/bin/cpprof" record -F 5000 --engine perf --no-subprocesses -o "$WORK/$name.$i.pb.gz" -- \
                "$WORK/$name.profiled" 2>/dev/null
        done
        "$BUILD/bin/cpprof" merge -o "$WORK/$name.pb.gz" "$WORK/$name".[0-9]*.pb.gz
        "$BUILD/bin/cpprof" convert -o "$WORK/$name.afdo-text" "$WORK/$name.pb.gz"
        build "$name" "$name.sampled" $debug -fprofile-sample-use="$WORK/$name.afdo-text" $FLAGS
        build "$name" "$name.counting" -fprofile-generate="$WORK/$name.raw"
        run "$name" "$WORK/$name.counting"
        "$profdata" merge -o "$WORK/$name.profdata" "$WORK/$name.raw"/*.profraw
        build "$name" "$name.instrumented" $debug -fprofile-use="$WORK/$name.profdata"
    }
    measure "$name"
done
