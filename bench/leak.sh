#!/bin/sh
# SPDX-License-Identifier: MIT
#
# leak: what a search for leaks costs a program with 1 GiB of memory.

set -eu

"$PROGRAMS/leak" 512k
"$PROGRAMS/leak" 1
