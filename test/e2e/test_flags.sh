#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 3
#
# test_flags.sh: pprof_parse_flags(): which arguments it takes and leaves, and the files at the end.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# takes EXPECTED ARGUMENT...: what the program is left with; messages are in errors.
takes() {
    takes_expected=$1
    shift
    expect_equal "what is left of '$*'" "$takes_expected" "$("$linked/flags" "$@" 2>errors)"
}

# ---- which are taken ----

takes "0"
takes "0 [a] [-v] [b]" a -v b
takes "0 [x] [y] [z]" x -cpuprofile=c1.pb.gz y --memprofile m1.pb.gz z
takes "0 [-x] [-cpuprofil=1] [-cpuprofiles] [cpuprofile] [-] [---cpuprofile=y]" \
    -x -cpuprofil=1 -cpuprofiles cpuprofile - ---cpuprofile=y
takes "0 [a] [--] [-cpuprofile] [none.pb.gz]" a -mutexprofile=m2.pb.gz -- -cpuprofile none.pb.gz
takes "0" -blockprofile a.pb.gz --blockprofile=b1.pb.gz
takes "0" -cpuprofile= -memprofile ""
expect_equal "messages" "" "$(cat errors)"
expect_no_file none.pb.gz
expect_no_file a.pb.gz
for file in c1 m1 m2 b1; do
    raw $file.pb.gz
done
expect_equal "files" "b1.pb.gz c1.pb.gz errors m1.pb.gz m2.pb.gz " \
    "$(find . -type f ! -name '*.raw' ! -name '*.err' -printf '%f\n' | sort | tr '\n' ' ')"

# ---- what is wrong with them ----

takes "EINVAL [a]" a -cpuprofile
expect_contains "no value" errors "libpprof: no value: flag '-cpuprofile' is ignored; write -cpuprofile=FILE"
takes "EINVAL [a] [b]" a -memprofilerate=often b -memprofile=m3.pb.gz
expect_contains "no number" errors \
    "libpprof: bad value: flag '-memprofilerate=often' is ignored; write -memprofilerate=NUMBER"
raw m3.pb.gz
LIBPPROF=cpu,file=$work/first.pb.gz takes "EBUSY" -cpuprofile second.pb.gz
expect_contains "busy" errors "the CPU profile could not be started"
raw first.pb.gz
expect_no_file second.pb.gz
takes "0" -blockprofile nowhere/b.pb.gz
expect_contains "no folder" errors "the block profile could not be written to $work/nowhere/b.pb.gz"

# ---- what is in the files ----

mkdir "100%e"
takes "0" -cpuprofile cpu.pb.gz -memprofile "100%e/mem.pb.gz" -memprofilerate=1 -blockprofile block.pb.gz \
    -mutexprofile mutex.pb.gz
for file in cpu.pb.gz 100%e/mem.pb.gz block.pb.gz mutex.pb.gz; do
    raw $file
done
# 30 are due; when the kernel notices is another matter (lib.sh).
expect_at_least "samples at 100 Hz in burns" 3 "$(weight_with cpu.pb.gz.raw burns main)"
expect_equal "blocks of allocates" "2000 1500000 1000 1000000" "$(blocks_of 100%e/mem.pb.gz.raw allocates main)"
expect_contains "the default is all that was allocated" 100%e/mem.pb.gz.raw "alloc_space/bytes[dflt]"
expect_at_least "waits" 20 "$(weight_with block.pb.gz.raw pthread_mutex_lock waits)"
expect_at_least "releases" 20 "$(weight_with mutex.pb.gz.raw pthread_mutex_unlock holds main)"

# Rates, as in Go: that of memory is set above 0 alone; with 0 the others record nothing, and the files are there, in the
# place of those of the run before; below 0 they are not asked for.
takes "0" -memprofile rate.pb.gz -memprofilerate 0x1000
raw rate.pb.gz
expect_contains "rate" rate.pb.gz.raw "Period: 4096"
takes "0" -memprofile rate.pb.gz -memprofilerate 0
raw rate.pb.gz
expect_contains "rate" rate.pb.gz.raw "Period: 524288"
takes "0" -mutexprofile fraction.pb.gz -mutexprofilefraction 7
raw fraction.pb.gz
expect_contains "fraction" fraction.pb.gz.raw "7 is the fraction"
takes "0" -blockprofile block.pb.gz -blockprofilerate 0 -mutexprofile mutex.pb.gz -mutexprofilefraction 0
expect_equal "messages" "" "$(cat errors)"
for off in block.pb.gz mutex.pb.gz; do
    raw $off
    expect_contains "the profile that is off" $off.raw "contentions/count delay/nanoseconds"
    expect_equal "what is in $off" "" "$(sed -n '/^Samples:/,/^Locations/p' $off.raw | grep ':.*[0-9]' || true)"
done
takes "0" -blockprofile below.pb.gz -blockprofilerate=-1 -mutexprofile below.pb.gz -mutexprofilefraction=-1
expect_equal "messages" "" "$(cat errors)"
expect_no_file below.pb.gz

echo ok
