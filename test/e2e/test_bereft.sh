#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_bereft.sh: profiles where no descriptor is left to look into /proc, and where the first thread, whose
# memory and descriptors /proc/self shows, has ended before the others.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

"$linked/bereft" descriptors

"$linked/bereft" first "$work"
expect_contains "threads" thread.txt "thread profile: total 2"
expect_contains "the stack of a thread that waits" thread.txt "	waits_in_poll+0x"
expect_contains "a name that has to be quoted" dump.txt ' "\"a\nname\x1b" ['
expect_contains "standard error" fd.txt "	pprof_earlier_descriptor+0x"
for file in thread.txt fd.txt heap.txt values.txt; do
    expect_contains "the maps in $file" "$file" "[stack]"
done
echo ok
