#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sample_cost: nanoseconds of one CPU sample on a stack of 30 frames: the delivery of its signal (an
# empty handler), what the profiler's handler adds to that, and the two largest parts of libpprof's.

set -eu

"$PROGRAMS/sample_cost_pprof" 100
if [ -x "$PROGRAMS/sample_cost_gperftools" ]; then
    CPUPROFILE_FREQUENCY=100 "$PROGRAMS/sample_cost_gperftools" 100 2>/dev/null
else
    echo "# not installed: gperftools (headers and libprofiler)"
fi
"$PROGRAMS/sample_parts"
