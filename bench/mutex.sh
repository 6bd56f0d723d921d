#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutex: lock and unlock with the block and mutex profiles off and on, as ratios to libc's own; and the
# throughput of threads that fight for a lock.

set -eu

"$PROGRAMS/mutex"
