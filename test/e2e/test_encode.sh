#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_encode.sh: what independent readers make of our formats. One made-up profile goes through
# `go tool pprof` as profile.proto and as the legacy CPU format, and through protoc. Both formats must
# report exactly the addresses that encode_sample expects.
# sanitizers: yes
set -eu

: "${BUILD:?the build directory}"
sample=$BUILD/test/e2e/encode_sample
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

command -v go >/dev/null || { echo "skipped: no go tool pprof"; exit 77; }

# The same addresses in each run: the program loads where it did before.
run() { setarch -R "$sample" "$@"; }
setarch -R true 2>/dev/null || { echo "skipped: setarch -R is not permitted"; exit 77; }

run proto "$work/cpu.pb.gz"
run legacy "$work/cpu.prof"
run expect >"$work/expect"

# "VALUE: 0xADDRESS ..." for each different stack, summed, from the output of -raw.
stacks() {
    awk '
        /^Samples:/   { part = "samples"; next }
        /^Locations/  { part = "locations"; next }
        /^Mappings/   { part = "" }
        part == "samples" && /^ *[0-9]+ +[0-9]+:/ {
            value = $1; sub(/^ *[0-9]+ +[0-9]+: ?/, "")
            n++; values[n] = value; stack[n] = $0
        }
        part == "locations" { id = $1; sub(/:/, "", id); address[id] = $2 }
        END {
            for (i = 1; i <= n; i++) {
                line = ""
                count = split(stack[i], ids, " ")
                for (k = 1; k <= count; k++) line = line " " address[ids[k]]
                sum[line] += values[i]
            }
            for (line in sum) print sum[line] ":" line
        }' | sort
}
awk '{ value = $1; sub(/:/, "", value); sub(/^[^ ]*/, ""); sum[$0] += value }
     END { for (line in sum) print sum[line] ":" line }' "$work/expect" | sort >"$work/expect.sum"
[ -s "$work/expect.sum" ] || fail "encode_sample expects nothing"

for file in cpu.pb.gz cpu.prof; do
    # "remote": nothing but what we have written; a file has no address to ask for names.
    go tool pprof -symbolize=remote -raw "$work/$file" >"$work/$file.raw" 2>"$work/$file.err" ||
        fail "$file is not read: $(cat "$work/$file.err")"
    stacks <"$work/$file.raw" >"$work/$file.sum"
    diff "$work/expect.sum" "$work/$file.sum" >&2 || fail "$file: other stacks than expected"
done

raw=$work/cpu.pb.gz.raw
expect_line() { grep -qF -- "$1" "$raw" || { cat "$raw" >&2; fail "no line \"$1\" in $raw"; }; }
expect_line "Comment: first comment"
expect_line "Comment: second comment"
expect_line "PeriodType: cpu nanoseconds"
expect_line "Period: 10000000"
expect_line "Time: 2023-11-14 22:13:20.123456789"
expect_line "Duration: 2s"
expect_line "cpu/nanoseconds[dflt]"
expect_line "request:[café �]"
expect_line "bytes:[4096 bytes]"
expect_line "victim_leaf"
expect_line "victim_static"
grep -Eq '^1: .*encode_sample [0-9a-f]{16,} *$' "$raw" ||
    fail "mapping 1 is not this program with a build id, or says that there is nothing to be added to names"

if command -v protoc >/dev/null; then
    gzip -dc "$work/cpu.pb.gz" | protoc --decode_raw >"$work/decoded" || fail "protoc: not a message"
    for field in 1 2 3 4 5 6 9 10 11 12 13 14; do
        grep -Eq "^$field(:| \{)" "$work/decoded" || fail "protoc: no field $field"
    done
    [ "$(grep -m1 '^6:' "$work/decoded")" = '6: ""' ] || fail 'protoc: string_table[0] is not ""'
fi
# The line in front of the maps, by which they are found, and all who read the format.
LC_ALL=C grep -aq '^MAPPED_LIBRARIES:$' "$work/cpu.prof" || fail "cpu.prof has no line MAPPED_LIBRARIES:"
LC_ALL=C sed '1,/^MAPPED_LIBRARIES:$/d' "$work/cpu.prof" | grep -aq ' r-xp .*/encode_sample$' ||
    fail "no map of the program behind MAPPED_LIBRARIES:"
expected_top="victim_leaf victim_static"
for go in "$(command -v go)" /usr/bin/go; do
    "$go" version >/dev/null 2>&1 || continue
    "$go" tool pprof -raw "$work/cpu.prof" >"$work/raw" 2>"$work/err" || fail "$go: $(cat "$work/err")"
    stacks <"$work/raw" >"$work/sum"
    diff "$work/expect.sum" "$work/sum" >&2 || fail "$go reads other stacks than expected"
    grep -Eq '^1: 0x[0-9a-f]+/0x[0-9a-f]+/0x[0-9a-f]+ .*/encode_sample ' "$work/raw" ||
        fail "$go: mapping 1 is not the program: $(sed -n '/^Mappings/,$p' "$work/raw")"
    found=$("$go" tool pprof -top "$work/cpu.prof" 2>/dev/null | awk '$1 ~ /s$/ && $1 != "flat" { print $NF }' |
        head -n 2 | tr '\n' ' ')
    [ "$found" = "$expected_top " ] || fail "$go names $found, not $expected_top"
done
"$BUILD/bin/cpprof" top "$work/cpu.prof" >"$work/top" 2>&1 || fail "cpprof: $(cat "$work/top")"
grep -q '100%  *\[encode_sample\]$' "$work/top" || fail "cpprof: $(cat "$work/top")"
if command -v google-pprof >/dev/null; then
    found=$(google-pprof --text "$sample" "$work/cpu.prof" 2>/dev/null | awk '/%/ { print $NF }' | head -n 2 | tr '\n' ' ')
    [ "$found" = "$expected_top " ] || fail "google-pprof names $found, not $expected_top"
fi
gzip -t "$work/cpu.pb.gz" || fail "gzip: damaged"
echo "ok"
