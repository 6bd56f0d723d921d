#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_dot.sh: `cpprof convert --to dot` writes what `go tool pprof -dot` does, byte for byte: on the profiles of a Go
# program, and, with filters, units and granularities, on made-up ones, for each Go that is installed and whose text cpprof
# knows (--style). Graphviz reads the files, if it is there.
# timeout: 600
# nightly: 1
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# Options; one line each. A dash stands for none.
cat >requests <<'END'
-
-nodecount=10
-nodecount=0
-lines
-filefunctions -nodecount=40
-files
-addresses
-hide=[a-g]
-focus=f -sample_index=0
-show_from=f -ignore=main
-tagfocus=a
-unit=ms
-diff_base=base.pb
-base=base.pb -nodecount=12
END

# compare PROFILE: all requests.
compare() {
    while read -r line; do
        [ "$line" != - ] || line=
        # shellcheck disable=SC2086 # words
        $pprof -dot $line "$1" >theirs 2>err
        # shellcheck disable=SC2086
        "$cpprof" convert -o - --to dot --style "$style" $line "$1" >mine 2>err
        compared=$((compared + 1))
        cmp -s theirs mine || {
            fail "$style, ${seed:-}, $1 $line: differs from go tool pprof"
            diff theirs mine | head -10 >&2
        }
    done <requests
}

compare_all() {
    seed=${CPPROF_FIRST_SEED:-300}
    while [ "$seed" -le "${CPPROF_LAST_SEED:-300}" ]; do
        "$generate" "$seed" $((seed % 11)) distinct >profile.pb
        "$generate" $((seed + 1000000)) $((seed % 11)) distinct >base.pb
        compare profile.pb
        seed=$((seed + 1))
    done
    seed=
    for profile in "$go"/*.pb.gz; do
        cp "$profile" base.pb
        compare "$profile"
    done
}

with_each_go compare_all

# ---- without Go

"$cpprof" convert -o cpu.dot "$go/cpu.pb.gz" || fail "cpu.dot"
sed -n '1p;2p;4,$p' cpu.dot >found
cat >expected <<'END'
digraph "fixture" {
node [style=filled fillcolor="#f8f8f8"]
N1 [label="main\nhog1\n600ms (72.29%)" id="node1" fontsize=24 shape=box tooltip="main.hog1 (600ms)" color="#b21000" fillcolor="#edd7d5"]
END
head -3 found >first
cmp -s first expected || fail "cpu.dot: $(diff expected first)"

# Names that would end a text of Graphviz' do not.
printf 'a"];b\\;c 5\n' >hostile.folded
"$cpprof" convert -o hostile.dot --tagfocus nothing hostile.folded 2>/dev/null
"$cpprof" convert -o hostile.dot hostile.folded || fail "hostile.dot"
grep -qF 'label="a\"]' hostile.dot || fail "a quote is not escaped: $(cat hostile.dot)"

if command -v dot >/dev/null; then
    for graph in cpu.dot hostile.dot; do
        dot -Tsvg -o out.svg $graph || fail "Graphviz does not read $graph"
    done
fi

finish_tests
