#!/bin/sh
# SPDX-License-Identifier: MIT
#
# labels: nanoseconds to give a thread other labels, to make a set of labels, and of pprof_do(); the same while readers outside
# of the process see the labels (otel).

set -eu

"$PROGRAMS/labels"
LIBPPROF=otel "$PROGRAMS/labels" | sed -n 's/\.pprof /.otel /p'
