#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_count_order.sh: the order of a profile that counts, beside Go's own function for it, with each version of Go
# that is installed: the same rows from many made-up ones, byte by byte, and the same samples in profile.proto. The
# addresses have few to many digits, so that the order of texts and that of numbers differ; labels have all that
# has to be escaped, and empty values.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

mkdir program
cp "$SRC/test/e2e/go/count_order.go" program
: >program/bound.s # declares that functions have no body

# rows SEED: most are of some stack and labels that others have as well.
rows() {
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        pcs = split("0x1 0x9 0x10 0x90 0x123 0x9000 0x9001 0x10000 0x100000 0x7f0000001000 0x7f0000001001 " \
            "0x7f00000010000 0x10000000 0xffffffffff", pc, " ")
        keys = split("a|a!|a b|ab|a\"|b|\303\244|c\\d", key, "|")
        values = split("|1|10|1 0|\"|\\|\303\244\342\202\254|\001\033|x,y}", value, "|")
        for (row = 0; row < 600; row++) {
            line = 1 + int(rand() * 2)
            depth = 1 + int(rand() * 3)
            for (i = 0; i < depth; i++)
                line = line (i == 0 ? "\t" : " ") pc[1 + int(rand() * pcs)]
            labels = int(rand() * 6) - 2
            for (i = 0; i < labels; i++)
                line = line "\t" key[1 + int(rand() * keys)] "\t" value[1 + int(rand() * values)]
            print line
        }
    }'
}

# Frames of Go and the maps apart, whose names depend on the program.
rows_of() { sed '/^--- Memory map: ---$/,$d; /^#	/d; /^$/d' "$1"; }

# samples_of FILE: a line for each: count, addresses, labels.
samples_of() {
    go_pprof -raw "$1" 2>/dev/null | awk '
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+:/ { count[++n] = $1; sub(/^ *[0-9]+: ?/, ""); ids[n] = $0; next }
        part == 1     { sub(/^ +/, ""); labels[n] = labels[n] " " $0 }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id); address[id] = $2 }
        END {
            for (i = 1; i <= n; i++) {
                depth = split(ids[i], list, " ")
                text = count[i]
                for (k = 1; k <= depth; k++) text = text " " address[list[k]]
                print text labels[i]
            }
        }'
}

compared=
for go in "$(command -v go)" /usr/bin/go /usr/local/go/bin/go; do
    version=$("$go" env GOVERSION 2>/dev/null) || continue
    [ ! -e "order.$version" ] || continue
    flags=-checklinkname=0
    case $version in go1.1[0-9]* | go1.2[0-2]*) flags= ;; esac
    (cd program && GOCACHE=${GOCACHE:-$work/cache} GO111MODULE=off CGO_ENABLED=0 GOTOOLCHAIN=local \
        "$go" build -ldflags="$flags" -o "../order.$version" .) 2>go.errors ||
        { echo "without $version: $(cat go.errors)"; continue; }
    for seed in 1 2 3; do
        rows $seed >made_up
        timeout -s KILL 60 "./order.$version" go.pb.gz <made_up >go.txt || fail "status $? of $version"
        timeout -s KILL 60 "$BUILD/test/e2e/count_order" ours.pb.gz <made_up >ours.txt || fail "status $?"
        rows_of go.txt >rows_of_go
        rows_of ours.txt >rows_of_ours
        expect_at_least "rows of seed $seed" 400 "$(wc -l <rows_of_go)"
        cmp rows_of_go rows_of_ours >&2 ||
            fail "seed $seed, $version (<): $(diff rows_of_go rows_of_ours | head -n 20)"
        samples_of go.pb.gz >samples_of_go
        samples_of ours.pb.gz >samples_of_ours
        # Which of them are one does the reader decide, by its version: of rows that differ in empty labels alone, say.
        expect_at_least "samples of seed $seed" 400 "$(wc -l <samples_of_ours)"
        cmp samples_of_go samples_of_ours >&2 ||
            fail "samples of seed $seed, $version (<): $(diff samples_of_go samples_of_ours | head -n 20)"
    done
    compared="$compared $version"
done
[ -n "$compared" ] || skip "no Go program can be built"
echo "ok:$compared"
