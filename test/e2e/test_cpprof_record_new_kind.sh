#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_new_kind.sh: `cpprof record -e` takes a kind that only the library knows: cpprof asks the library
# for it. A word that is another option of the library is no kind.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof
LIBPPROF_LIBRARY=$BUILD/test/toy_kind/libpprof_with_toy.so
export LIBPPROF_LIBRARY
[ -e "$LIBPPROF_LIBRARY" ] || { echo "skipped: $LIBPPROF_LIBRARY is not built"; exit 77; }

"$cpprof" record -e toy,cpu -o new.pb.gz true 2>err || fail "$(cat err)"
expect_contains "the new kind" err "wrote new.toy.pb.gz (1 process)"
expect_contains "the new kind" err "no samples: the command did nothing that such a profile counts"
expect_equal "type" "toy/count" "$(go_pprof -raw new.toy.pb.gz 2>/dev/null | sed -n '/^Samples:/{n;p;}')"
[ -e new.cpu.pb.gz ] || fail "no file of the other kind"

# refused WORD: before the command runs, and with no word of the library's.
refused() {
    expect_equal "status of -e $1" 2 "$(status "$cpprof" record -e "$1" touch ran 2>err)"
    expect_equal "lines about -e $1" 2 "$(grep -c . err)"
    expect_contains "-e $1" err "found '$1'"
    expect_no_file ran
}
refused toys
refused toy:5
refused subprocesses
refused duration=1

LIBPPROF_LIBRARY=$BUILD/lib/libpprof.so.0
refused toy
LIBPPROF_LIBRARY=/nowhere
refused toy
echo ok
