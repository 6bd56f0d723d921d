#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_top.sh: `cpprof top` prints what `go tool pprof -top` prints, byte for byte: on the
# profiles of a Go program, on made-up ones with everything in them, and, where Go is installed,
# on more made-up ones in comparison with the tool itself. Broken files and wrong options are refused with the
# right exit status.
# sanitizers: yes
set -u

: "${BUILD:?the build directory}" "${SRC:?the source directory}"
cpprof=$BUILD/bin/cpprof
generate=$BUILD/test/cpprof/generate
golden=$SRC/test/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# What Go has built once is there also where $HOME is another folder.
GOCACHE=${GOCACHE:-$(go env GOCACHE 2>/dev/null || true)}
export GOCACHE TZ=UTC HOME="$work" PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work"
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# expect EXPECTED-FILE OPTIONS...: the output is that file.
expect() {
    expected=$1
    shift
    "$cpprof" top "$@" >out 2>err || fail "top $*: exit status $?, $(cat err)"
    cmp -s out "$expected" || {
        fail "top $*: the output differs from $expected"
        diff "$expected" out | head -20 >&2
    }
}

# refuse STATUS TEXT COMMAND...: the command ends with that status and prints that text.
refuse() {
    status=$1 text=$2
    shift 2
    "$@" >out 2>err
    got=$?
    [ $got = "$status" ] || fail "$*: expected exit status $status, found $got"
    grep -qF -- "$text" err || fail "$*: expected '$text', found '$(cat err)'"
    [ -s out ] && fail "$*: wrote to standard output although it failed"
}

# ---- profiles of a Go program

go=$golden/go
for kind in cpu heap allocs block mutex example.conn threadcreate goroutine; do
    expect "$go/$kind.top.expected" "$go/$kind.pb.gz"
done
expect "$go/cpu.top-cum.expected" --cum "$go/cpu.pb.gz"
expect "$go/cpu.top-focus-hog1.expected" --focus hog1 "$go/cpu.pb.gz"
expect "$go/heap.top-alloc_space.expected" --sample alloc_space "$go/heap.pb.gz"
expect "$go/allocs.top-base-heap.expected" --base "$go/heap.pb.gz" "$go/allocs.pb.gz"

gzip -dc "$go/cpu.pb.gz" >plain.pb
expect "$go/cpu.top.expected" plain.pb
"$cpprof" top - <"$go/cpu.pb.gz" | cmp -s - "$go/cpu.top.expected" || fail "standard input"
expect "$golden/gperftools/cpu.top.expected" "$golden/gperftools/cpu.prof"

# ---- made-up profiles

# The option sets; one line each.
cat >options <<'END'

-cum
-nodecount=7
-cum -nodecount=3
-sample_index=0
-focus=function_1
-ignore=main|lib
-focus=work|foo -ignore=std -nodecount=20
-base=base.pb
-base=base.pb -cum -focus=[a-m]
END

# runs TOOL FIRST LAST EXTRA: the outputs for the seeds, with a line in front of each.
runs() {
    seed=$2
    while [ "$seed" -le "$3" ]; do
        "$generate" "$seed" $((seed % 11)) >profile.pb
        "$generate" $((seed + 1000000)) $((seed % 11)) >base.pb
        while read -r line; do
            echo "== seed $seed, options $line"
            # shellcheck disable=SC2086 # options are words
            $1 $line $4 profile.pb 2>err
        done <options
        seed=$((seed + 1))
    done
}

runs "$cpprof top" 1 12 -nodecount=10 >made-up
cmp -s made-up "$golden/profiles/generated.expected" || {
    fail "made-up profiles differ from the golden file"
    diff "$golden/profiles/generated.expected" made-up | head -20 >&2
}

# Later versions cut other nodes out of odd graphs: only the version of the golden files is run on these.
is_of_golden_files() {
    command -v go >/dev/null && go tool pprof -top "$go/cpu.pb.gz" 2>/dev/null | cmp -s - "$go/cpu.top.expected"
}
if is_of_golden_files; then
    pprof=$(go tool -n pprof 2>/dev/null || echo "go tool pprof")
    runs "$cpprof top" 100 "${CPPROF_SEEDS:-139}" "" >mine
    runs "$pprof -top" 100 "${CPPROF_SEEDS:-139}" "" | awk -f "$SRC/test/e2e/pprof_time.awk" >theirs
    cmp -s mine theirs || {
        fail "made-up profiles differ from go tool pprof"
        diff theirs mine | head -20 >&2
    }
else
    echo "go tool pprof is not that of the golden files: compared only with these"
fi

# ---- broken files

refuse 1 "cannot open: No such file" "$cpprof" top nothing.pb.gz
mkdir folder
refuse 1 "found a directory" "$cpprof" top folder
: >empty
refuse 1 "empty: byte 0: expected a profile, found an empty file" "$cpprof" top empty
head -c 400 "$go/cpu.pb.gz" >cut.gz
refuse 1 "cut.gz: byte 400: expected more gzip data" "$cpprof" top cut.gz
head -c 700 plain.pb >cut.pb
refuse 1 "cut.pb: byte 682: expected a length of at most 17" "$cpprof" top cut.pb
echo "this is no profile" >text
refuse 1 "text: byte 0: expected a profile (profile.proto, gzipped or plain), found text" \
    "$cpprof" top text
refuse 1 "found an ELF program" "$cpprof" top "$cpprof"
cat plain.pb plain.pb >twice.pb
refuse 1 "expected" "$cpprof" top twice.pb
refuse 1 "heap.pb.gz" "$cpprof" top --base "$go/heap.pb.gz" "$go/cpu.pb.gz"
[ -w /dev/full ] && {
    "$cpprof" top "$go/cpu.pb.gz" >/dev/full 2>err
    [ $? = 1 ] || fail "a full disk is not noticed"
    grep -q "cannot write" err || fail "a full disk is not named"
}

# ---- wrong options

refuse 2 "see \`cpprof help top\`" "$cpprof" top
refuse 2 "expected FILE, found none" "$cpprof" top --cum
refuse 1 "a: cannot open" "$cpprof" top a b
refuse 2 "unknown option --bogus" "$cpprof" top --bogus x
refuse 2 "expected a number from -1" "$cpprof" top -n many x
refuse 2 "needs a value" "$cpprof" top x --focus
refuse 2 "--focus: regular expression: missing closing parenthesis at position 5" \
    "$cpprof" top --focus 'ab(cd' x
refuse 2 "expected a sample type of this profile (samples, cpu), found heap" \
    "$cpprof" top --sample heap "$go/cpu.pb.gz"
refuse 2 "not in this version" "$cpprof" push http://localhost "$go/cpu.pb.gz"
refuse 2 "unknown verb 'bogus'" "$cpprof" bogus
refuse 2 "expected a verb" "$cpprof"
"$cpprof" help top | grep -q "usage: cpprof top" || fail "help top"
"$cpprof" top --help | grep -q "usage: cpprof top" || fail "top --help"
"$cpprof" help | grep -q "record" || fail "help"
"$cpprof" --version | grep -q "^cpprof [0-9]" || fail "--version"

# ---- merge

"$cpprof" merge -o sum.pb.gz "$go/cpu.pb.gz" "$go/cpu.pb.gz" || fail "merge: exit status $?"
"$cpprof" top sum.pb.gz | grep -q "^    1200ms 72.29% 72.29%     1200ms 72.29%  main.hog1" ||
    fail "merge: $("$cpprof" top sum.pb.gz)"
"$cpprof" merge -o sum.pb.gz sum.pb.gz "$go/cpu.pb.gz" || fail "merge in place: exit status $?"
"$cpprof" top sum.pb.gz | grep -q "^    1800ms 72.29%" || fail "merge in place"
"$cpprof" merge -o same.pb.gz "$go/block.pb.gz" && expect "$go/block.top.expected" same.pb.gz
refuse 1 "$go/heap.pb.gz: expected profiles of one kind" \
    "$cpprof" merge -o x "$go/cpu.pb.gz" "$go/cpu.pb.gz" "$go/heap.pb.gz" "$go/mutex.pb.gz"
refuse 2 "expected -o OUT, the file to write, found none" "$cpprof" merge "$go/cpu.pb.gz"
if command -v go >/dev/null; then
    go tool pprof -top sum.pb.gz >printed 2>err || fail "go tool pprof on a merged profile: $(cat err)"
    awk -f "$SRC/test/e2e/pprof_time.awk" printed >theirs
    expect theirs sum.pb.gz
fi

[ $failures = 0 ]
