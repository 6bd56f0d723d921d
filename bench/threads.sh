#!/bin/sh
# SPDX-License-Identifier: MIT
#
# threads: ms that profiles of a thousand threads take, beside Go's of a thousand goroutines, and the first one
# beside what the kernel takes to say where they wait; us to create and join a thread, with the stack of its
# creation and without.

set -eu

"$PROGRAMS/threads"
"$PROGRAMS/threads" kernel
if command -v go >/dev/null; then
    GOCACHE="$WORK/go" GOFLAGS=-mod=mod go build -o "$WORK/threads_go" "$(dirname "$0")/threads.go"
    "$WORK/threads_go"
else
    echo "# no go: nothing beside"
fi
"$PROGRAMS/thread_create" threads.create.none
LD_PRELOAD=$LIBRARY "$PROGRAMS/thread_create" threads.create.pprof
