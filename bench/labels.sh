#!/bin/sh
# SPDX-License-Identifier: MIT
#
# labels: nanoseconds to give a thread other labels, to make a set of labels, and of pprof_do().

set -eu

"$PROGRAMS/labels"
