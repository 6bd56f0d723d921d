#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_interruptions.sh: no EINTR, no short read or write, no errno changed at 1000 Hz.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$victims/interruptions" >plain || skip "it fails here even without the library: $(cat plain)"
record "$work/p.pb.gz" "$victims/interruptions" >profiled || true
diff plain profiled >&2 || fail "system calls were disturbed"
raw p.pb.gz
# The signals did come, and in those calls.
expect_at_least "weight of write" 10 "$(weight_with p.pb.gz.raw write_all_blocks)"
echo ok
