#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_linked.sh: a program that links the library: on without being asked, unless LIBPPROF says what
# is on; profiles on request, errors, snapshots of a program that goes on.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

expect_equal "rate without LIBPPROF" 524288 "$("$linked/heap" rate)"
expect_equal "rate with LIBPPROF=cpu" 0 "$(LIBPPROF=cpu,file=$work/%k.pb.gz "$linked/heap" rate)"
for value in heap:524288 heap:512k heap; do
    expect_equal "rate with LIBPPROF=$value" 524288 \
        "$(LIBPPROF="$value,file=$work/%k.pb.gz" "$linked/heap" rate)"
done
expect_equal "rate with LIBPPROF=heap:2m" 2097152 \
    "$(LIBPPROF="heap:2m,file=$work/%k.pb.gz" "$linked/heap" rate)"
expect_equal "rate with LIBPPROF=heap:0" 0 "$(LIBPPROF="heap:0,file=$work/0" "$linked/heap" rate)"
expect_equal "files without LIBPPROF" "" "$(cd "$(mktemp -d -p "$work")" && "$linked/heap" rate >/dev/null && ls)"

"$linked/heap" write heap.pb.gz allocs.pb.gz
raw heap.pb.gz
raw allocs.pb.gz
for profile in heap allocs; do
    expect_equal "kept blocks in $profile" "100 100000 100 100000" \
        "$(blocks_of $profile.pb.gz.raw kept_blocks main)"
    expect_equal "freed blocks in $profile" "100 500000 0 0" \
        "$(blocks_of $profile.pb.gz.raw freed_blocks main)"
done
is_musl "$library" || blocks heap.pb.gz.raw | awk -F '\t' '$NF != "_start" { bad = 1 } END { exit bad }' ||
    fail "stacks that do not begin at _start: $(blocks heap.pb.gz.raw)"
types="alloc_objects/count alloc_space/bytes"
expect_equal "sample types of heap" "$types inuse_objects/count inuse_space/bytes[dflt]" \
    "$(sed -n '/^Samples:/{n;p;}' heap.pb.gz.raw)"
expect_equal "sample types of allocs" \
    "alloc_objects/count alloc_space/bytes[dflt] inuse_objects/count inuse_space/bytes" \
    "$(sed -n '/^Samples:/{n;p;}' allocs.pb.gz.raw)"
blocks allocs.pb.gz.raw | awk '{ if (NR > 1 && $2 > last) bad = 1; last = $2 } END { exit bad }' ||
    fail "samples of allocs are not ordered by bytes allocated"

expect_equal "status of errors" 0 "$(status "$linked/heap" errors)"
expect_equal "status of concurrent" 0 "$(status "$linked/heap" concurrent 30)"
echo ok
