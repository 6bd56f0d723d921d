#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_cpprof_gcov.sh: gcc takes what `cpprof convert -o FILE.gcov` writes: the hot loop has its count, its function is entered as often as
# it is called, and a call through a pointer becomes a direct one; a function of whose own code there are no samples has run; a profile
# of another build is refused.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/pgo.sh
. "$SRC/test/e2e/pgo.sh"
need cc
cpprof=$BUILD/bin/cpprof
cc --version | grep -q 'Free Software Foundation' || skip "cc is not gcc"
version=$(cc -dumpversion)
[ "${version%%.*}" -ge 12 ] && [ "${version%%.*}" -le 15 ] || skip "gcc $version has another form of profiles"

write_program

build() { # FLAGS...
    cc -O2 -g "$@" -o program program.c 2>err || fail "cc $*: $(cat err)"
    [ ! -s err ] || fail "cc $*: $(cat err)"
}

build
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
"$cpprof" convert -o prof.gcov prof.pb.gz 2>err || fail "convert: $(cat err)"
expect_equal "magic number, version, nothing, names" "67636461 00000002 00000000 aa000000" "$(od -A n -t x4 -N 16 prof.gcov | sed 's/^ //')"

build -fauto-profile=prof.gcov -fdump-tree-optimized-details-blocks -fdump-ipa-profile_estimate-details

# counts FUNCTION: the counts of its basic blocks that come from the profile, the first one's first.
counts() {
    awk -v name="$1" '/^;; Function / { inside = $3 == name || index($3, name ".") == 1 }
        inside && /basic block .* count [0-9]+ \(auto FDO/ { sub(/.* count /, ""); print $1 }' ./*.optimized
}

most=$(counts often | sort -n | tail -n 1)
[ "${most:-0}" -ge 10000 ] || fail "often()'s loop has the count ${most:-none}: $(cat ./*.optimized)"
first=$(counts often | head -n 1)
[ $((100 * first)) -lt "$most" ] || fail "often() is entered $first times, its loop runs $most times"
[ "$(counts main | sort -n | tail -n 1)" -ge 1 ] || fail "main() does not run: $(cat ./*.optimized)"
grep -q 'Indirect call -> .*often.* => twist' ./*.profile_estimate || fail "the call of twist() stays indirect: $(cat ./*.profile_estimate)"
./program || fail "the program that gcc made of it ends with $?"

build -DOTHER=1 -fno-inline
status=0
"$cpprof" convert -o refused.gcov prof.pb.gz 2>err || status=$?
expect_equal "another build: exit status" 1 "$status"
expect_contains "another build" err "another build"
expect_no_file refused.gcov
