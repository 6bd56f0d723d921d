#!/bin/sh
# SPDX-License-Identifier: MIT
#
# unwind: nanoseconds per frame of a stack walk without frame pointers, at depths of 16, 56 and 96, for
# stacks that change and for the same one repeated; of a whole pprof_callers() of 30 frames; and of a
# rule that is not in the cache yet.

set -eu

"$PROGRAMS/unwind"
"$PROGRAMS/unwind_miss"
