#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_build_targets.sh: a build of cpprof alone, as demo.sh and bench/run make it, includes the reader of lines, which
# cpprof loads from beside itself: the target depends on it. The generator's own files say so.

set -eu
rules=$BUILD/CMakeFiles/Makefile2
[ -f "$rules" ] || { echo "skipped: the build has no Makefiles"; exit 77; }
if ! grep -q '^dwarf/CMakeFiles/pprof_dwarf.dir/all:' "$rules"; then
    echo "skipped: libdw-dev is not installed"
    exit 77
fi
if ! grep -q '^cmd/CMakeFiles/cpprof.dir/all:.*dwarf/CMakeFiles/pprof_dwarf.dir/all' "$rules"; then
    echo "FAIL: the target cpprof does not depend on pprof_dwarf" >&2
    exit 1
fi
