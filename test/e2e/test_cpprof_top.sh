#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_top.sh: `cpprof top` prints what `go tool pprof -top` prints, byte for byte: on the
# profiles of a Go program, on made-up ones with everything in them, and, where Go is installed,
# on more made-up ones in comparison with the tool itself. Broken files and wrong options are refused with the
# right exit status.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# expect_newest EXPECTED-FILE WORDS...: the output is that file of Go 1.19, with the time as the newest Go prints it.
expect_newest() {
    newest=$1
    shift
    run 0 "$@"
    grep -q '^Time:' "$newest" && { grep -q '^Time: 2026-11-21 07:00:5[0-9] UTC$' out || fail "$*: no time in $(cat out)"; }
    awk -f "$SRC/test/e2e/pprof_time.awk" out | cmp -s - "$newest" || fail "$*: more than the time differs from $newest"
}

# ---- profiles of a Go program

for kind in cpu heap allocs block mutex example.conn threadcreate goroutine; do
    expect "$go/$kind.top.expected" top --style go1.19 "$go/$kind.pb.gz"
    expect_newest "$go/$kind.top.expected" top "$go/$kind.pb.gz"
done
expect "$go/cpu.top-cum.expected" top --cum --style go1.19 "$go/cpu.pb.gz"
expect "$go/cpu.top-focus-hog1.expected" top --focus hog1 --style go1.19 "$go/cpu.pb.gz"
expect "$go/heap.top-alloc_space.expected" top --sample alloc_space --style go1.19 "$go/heap.pb.gz"
expect "$go/allocs.top-base-heap.expected" top --base "$go/heap.pb.gz" --style go1.19 "$go/allocs.pb.gz"

gzip -dc "$go/cpu.pb.gz" >plain.pb
expect "$go/cpu.top.expected" top --style go1.19 plain.pb
"$cpprof" top --style go1.19 - <"$go/cpu.pb.gz" | cmp -s - "$go/cpu.top.expected" || fail "standard input"
expect "$golden/gperftools/cpu.top.expected" top "$golden/gperftools/cpu.prof"

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

runs "$cpprof top --style go1.19" 1 12 -nodecount=10 >made-up
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
    runs "$cpprof top --style go1.19" 100 "${CPPROF_SEEDS:-139}" "" >mine
    runs "$pprof -top" 100 "${CPPROF_SEEDS:-139}" "" | awk -f "$SRC/test/e2e/pprof_time.awk" >theirs
    cmp -s mine theirs || {
        fail "made-up profiles differ from go tool pprof"
        diff theirs mine | head -20 >&2
    }
else
    echo "go tool pprof is not that of the golden files: compared only with these"
fi

# ---- broken files

refuse 1 "cannot open: No such file" top nothing.pb.gz
mkdir folder
refuse 1 "found a directory" top folder
: >empty
refuse 1 "empty: byte 0: expected a profile, found an empty file" top empty
head -c 400 "$go/cpu.pb.gz" >cut.gz
refuse 1 "cut.gz: byte 400: expected more gzip data" top cut.gz
head -c 700 plain.pb >cut.pb
refuse 1 "cut.pb: byte 682: expected a length of at most 17" top cut.pb
echo "this is no profile" >text
refuse 1 "text: byte 0: expected a profile (profile.proto, gzipped or plain), found text whose line 1 is no folded stack" \
    top text
refuse 1 "found an ELF program" top "$cpprof"
# Profiles of Java in Google's older formats.
printf -- '--- heapz 1 ---\nformat = java\nresolution = bytes\n 7048 1 @ 0x3\n 0x3 Main.main (Main.java:7)\n' >java.heap
printf -- '--- contentionz 1 ---\nformat = java\nresolution = microseconds\n 14 1 @ 0x3\n 0x3 Main.main (Main.java:7)\n' >java.contention
printf '\0\0\0\0\3\0\0\0\1\0\0\0\20\47\0\0\0\0\0\0' >java.cpu4
printf '\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\20\47\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >java.cpu8
refuse 1 "java.heap: byte 0: expected a profile (profile.proto, gzipped or plain), found a heap profile of Java" top java.heap
refuse 1 "java.contention: byte 22: line 2: expected a profile of a native program (one of Java is read by" top java.contention
refuse 1 "found a CPU profile of Java" top java.cpu4
refuse 1 "found a CPU profile of Java" top java.cpu8
cat plain.pb plain.pb >twice.pb
refuse 1 "expected" top twice.pb
refuse 1 "heap.pb.gz" top --base "$go/heap.pb.gz" "$go/cpu.pb.gz"
[ -w /dev/full ] && {
    "$cpprof" top "$go/cpu.pb.gz" >/dev/full 2>err
    [ $? = 1 ] || fail "a full disk is not noticed"
    grep -q "cannot write" err || fail "a full disk is not named"
}

# ---- wrong options

mkdir nothing
cd nothing || exit 1
refuse 2 "see \`cpprof help top\`" top
refuse 2 "top: expected FILE, found none, nor a *.pb.gz in this folder; \`cpprof record -- COMMAND\` writes one" top --cum
cd ..
refuse 1 "a: cannot open" top a b
refuse 2 "unknown option --bogus" top --bogus x
refuse 2 "expected a number from -1" top -n many x
refuse 2 "needs a value" top x --focus
refuse 2 "--focus: regular expression: missing closing parenthesis at position 5" \
    top --focus 'ab(cd' x
refuse 2 "expected a sample type of this profile (samples, cpu), found heap" \
    top --sample heap "$go/cpu.pb.gz"
refuse 2 "unknown verb 'bogus'" bogus
refuse 2 "expected a verb"
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
"$cpprof" merge -o same.pb.gz "$go/block.pb.gz" && expect "$go/block.top.expected" top --style go1.19 same.pb.gz
refuse 1 "$go/heap.pb.gz: expected profiles of one kind" \
    merge -o x "$go/cpu.pb.gz" "$go/cpu.pb.gz" "$go/heap.pb.gz" "$go/mutex.pb.gz"
refuse 2 "expected -o OUT, the file to write, found none" merge "$go/cpu.pb.gz"
if command -v go >/dev/null; then
    go tool pprof -top sum.pb.gz >printed 2>err || fail "go tool pprof on a merged profile: $(cat err)"
    awk -f "$SRC/test/e2e/pprof_time.awk" printed >theirs
    expect theirs top --style go1.19 sum.pb.gz
fi

finish_tests
