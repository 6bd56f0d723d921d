#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_beside_go.sh: the same cases in C (linked/beside.c) and in Go (go/beside.go), with each version of Go that is
# installed: what they print is the same.
# libc: glibc, its victims are the distribution's programs
# timeout: 400
# nightly: 2
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
    timeout -s KILL 200 "$linked/beside" "$1" ours.pb.gz >of_ours || fail "$1 ended with status $?"
    for program in $programs; do
        timeout -s KILL 200 "./$program" "$1" "$program.pb.gz" >of_go || fail "$1 of $program ended with status $?"
        diff of_go of_ours >&2 || fail "$1: $program says what has < before it"
    done
}

for name in collector count large rates; do
    same $name
done

# Nothing is recorded before main() (LIBPPROF=). Older versions write the same bytes twice, and readers take the text for one without what was allocated.
LIBPPROF='' timeout -s KILL 200 "$linked/beside" kept >of_ours || fail "kept ended with status $?"
expect_equal "a heap of which nothing is dead" "bytes in use: some, allocated: 1 more" "$(cat of_ours)"
for go in $gos; do
    grep -q 'allocBytes++' "$("$go" env GOROOT)/src/runtime/pprof/pprof.go" || continue
    "./beside.$("$go" env GOVERSION)" kept | diff - of_ours >&2 || fail "kept: Go says what has < before it"
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
# Blocks are those of the functions that asked the allocator, in what readers make of profile.proto and in the text.
# (Go's own work at these places, which comes in other sizes, is not looked at.)
sites_of() { # GO FILE: objects of the function itself, with its callees', and its name
    "$1" tool pprof -symbolize=none -tagfocus=bytes=1024b:1024b -top -sample_index=alloc_objects -nodecount=1000 -nodefraction=0 "$2" 2>/dev/null |
        sed 's/main\.//' | awk '$6 ~ /^site_/ { print $1, $4, $6 }' | sort
}
first_frames_of() { # FILE: of the rows of 1024 bytes, the function of the first line
    awk '/^[0-9]+: .* @ / { first = 1 }
        /^#\t0x/ && first { first = 0; sub(/\+0x.*/, "", $3); sub(/^main\./, "", $3); if ($3 ~ /^site_/) print $3 }' "$1" | sort
}
same allocs
for go in $gos; do
    sites_of "$go" ours.pb.gz >sites_of_ours
    expect_equal "objects of sites" "0 4000 site_helped
1000 1000 site_direct
2000 2000 site_zeroed
3000 3000 site_grown
4000 4000 site_helper" "$(cat sites_of_ours)"
    for program in $programs; do
        sites_of "$go" "$program.pb.gz" >sites_of_go
        diff sites_of_go sites_of_ours >&2 || fail "sites as $go reads them differ from those of $program"
    done
done
first_frames_of ours.pb.gz.txt >frames_of_ours
for program in $programs; do
    first_frames_of "$program.pb.gz.txt" >frames_of_go
    diff frames_of_go frames_of_ours >&2 || fail "first frames differ from those of $program"
done
# A rate of 0 or below beside a file: whether there is one.
mkdir empty
printf 'package empty\nimport "testing"\nfunc TestNothing(*testing.T) {}\n' >empty/empty_test.go
files_of() { # DASHES PROGRAM: for each rate
    for rate in 1 0 -1; do
        rm -f block.pb.gz mutex.pb.gz mem.pb.gz
        timeout -s KILL 200 "$2" "$1blockprofile=block.pb.gz" "$1blockprofilerate=$rate" "$1mutexprofile=mutex.pb.gz" \
            "$1mutexprofilefraction=$rate" "$1memprofile=mem.pb.gz" "$1memprofilerate=$rate" >of_program 2>&1 ||
            fail "$2 at $rate: $(cat of_program)"
        echo "$rate: $(ls block.pb.gz mutex.pb.gz mem.pb.gz 2>/dev/null)"
    done
}
files_of - "$linked/flags" >files_of_ours
for go in $gos; do
    (cd empty && GOCACHE=${GOCACHE:-$work/cache} GO111MODULE=off CGO_ENABLED=0 GOTOOLCHAIN=local "$go" test -c -o empty.test) >go.errors 2>&1 ||
        fail "no test can be built: $(cat go.errors)"
    files_of -test. ./empty/empty.test | diff - files_of_ours >&2 || fail "files of a rate: $go says what has < before it"
done

echo "ok:$programs"
