#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
#
# test_thread_storm.sh: profiles of threads while thousands of them come and go
# (what is checked stands in linked/thread_storm.c).
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

"$linked/thread_storm"
echo ok
