#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_beside_go.sh: the same cases in C (linked/beside.c) and in Go (go/beside.go), with each version of Go that is
# installed: what they print is the same.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# programs: a Go program for each version of Go.
programs=
gos=
for go in "$(command -v go)" /usr/bin/go /usr/local/go/bin/go; do
    version=$("$go" env GOVERSION 2>/dev/null) || continue
    [ ! -e "beside.$version" ] || continue
    GOCACHE=${GOCACHE:-$work/cache} GO111MODULE=off CGO_ENABLED=0 GOTOOLCHAIN=local \
        "$go" build -o "beside.$version" "$SRC/test/e2e/go/beside.go" 2>go.errors ||
        { echo "without $version: $(cat go.errors)"; continue; }
    programs="$programs beside.$version"
    gos="$gos $go"
done
[ -n "$programs" ] || skip "no Go program can be built"

# same CASE: both print it, and nothing else.
same() {
    timeout -s KILL 60 "$linked/beside" "$1" ours.pb.gz >of_ours || fail "$1 ended with status $?"
    for program in $programs; do
        timeout -s KILL 60 "./$program" "$1" "$program.pb.gz" >of_go || fail "$1 of $program ended with status $?"
        diff of_go of_ours >&2 || fail "$1: $program says what has < before it"
    done
}

for name in collector count rates; do
    same $name
done

# Empty values are in the text, and not in profile.proto, whoever reads it.
labels_of() { # GO FILE
    "$1" tool pprof -raw "$2" 2>/dev/null | sed -n '/^Samples:/,/^Locations/ s/^ *\([^ 0-9].*:\[.*\]\)$/\1/p' | sort
}
same labels
for go in $gos; do
    labels_of "$go" ours.pb.gz >labels_of_ours
    expect_equal "samples with labels" 3 "$(wc -l <labels_of_ours)"
    for program in $programs; do
        labels_of "$go" "$program.pb.gz" >labels_of_go
        diff labels_of_go labels_of_ours >&2 || fail "labels as $go reads them differ from those of $program"
    done
done
echo "ok:$programs"
