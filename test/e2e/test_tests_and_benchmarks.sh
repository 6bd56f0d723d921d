#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_tests_and_benchmarks.sh: what docs/TESTS_AND_BENCHMARKS.md shows, done: its files, its commands,
# in its order, against the library as it is installed.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc cmake ctest
document=$SRC/docs/TESTS_AND_BENCHMARKS.md

cmake --install "$BUILD" --prefix "$work/installed" >install.log 2>&1 || fail "$(cat install.log)"
library_folder=$(dirname "$(find "$work/installed" -name 'libpprof.so.0')")
export CPATH="$work/installed/include" LIBRARY_PATH="$library_folder" LD_LIBRARY_PATH="$library_folder"
export CMAKE_PREFIX_PATH="$work/installed${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" HOME="$work"

# A line that ends in `NAME`: names the block that follows; blocks of sh are what is typed.
mkdir typed
cd typed
awk '
    /^```sh$/             { to = "../commands"; next }
    /^```[a-z]+$/         { to = name; name = ""; if (to == "") { print "a block without a name" ; exit 1 } next }
    /^```$/               { to = ""; next }
    to != ""              { print > to; next }
    /`[A-Za-z_.]+`:$/     { name = $NF; gsub(/[`:]/, "", name) }' "$document" >&2
expect_equal "files" "CMakeLists.txt bench_words.c other.c test_words.c " "$(find . -type f -printf '%f\n' | sort | tr '\n' ' ')"
sh -ex ../commands >../out 2>&1 || fail "$(tail -n 40 ../out)"

# What the profiles are said to hold.
raw words.cpu.pb.gz
expect_at_least "samples of test_words" 1 "$(weight_with words.cpu.pb.gz.raw main)"
raw words.mem.pb.gz
expect_near "blocks of counts_words" 200000 "$(field 1 "$(blocks_of words.mem.pb.gz.raw counts_words main)")" 40000
expect_equal "tests that the filter left" counts_words "$(sed -n 's/^\[ *OK \] //p' ../out)"
for file in build/test_words.cpu build/test_words.mutex build/other.cpu build/other.heap before after; do
    raw $file.pb.gz
done
expect_at_least "samples of other" 1 "$(weight_with build/other.cpu.pb.gz.raw main)"
expect_near "blocks of other" 20000000 "$(field 1 "$(blocks_of build/other.heap.pb.gz.raw main)")" 4000000
grep -q '^copy_words [0-9.]* ns$' ../out || fail "the benchmark did not run: $(cat ../out)"
echo ok
