#!/bin/sh
# SPDX-License-Identifier: MIT
#
# profile: a profile of the program's own: adding and removing, writing, memory, beside the same program in
# Go.

set -eu

"$PROGRAMS/profile"

if ! command -v go >/dev/null; then
    echo "# profile: there is no Go here to compare with"
elif ! GO111MODULE=off GOCACHE="$WORK/go-cache" GOFLAGS='' go build -o "$WORK/profile_go" \
    "$(dirname "$0")/profile.go" 2>"$WORK/go-errors"; then
    echo "# profile: profile.go could not be built: $(head -n 3 "$WORK/go-errors" | tr '\n' ' ')"
else
    "$WORK/profile_go"
fi
