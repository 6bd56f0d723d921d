#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_dot.sh: `cpprof convert --to dot` writes what `go tool pprof -dot` does, byte for byte: on the profiles of a Go
# program, and, with filters, units and granularities, on made-up ones, for each Go that is installed and whose text cpprof
# knows (--style). Graphviz reads the files, if it is there.
# timeout: 600
# nightly: 1
# sanitizers: yes
set -u

: "${BUILD:?the build directory}" "${SRC:?the source directory}"
cpprof=$BUILD/bin/cpprof
generate=$BUILD/test/cpprof/generate
go=$SRC/test/golden/go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TZ=UTC HOME="$work" PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work"
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

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
    seed=$1
    while [ "$seed" -le "$2" ]; do
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

style_of() {
    case $("$1" version 2>/dev/null) in
    *" go1.19"*) echo go1.19 ;;
    *" go1.26"*) echo go1.26 ;;
    esac
}

for tool in "$(command -v go)" /usr/lib/go-*/bin/go; do
    [ -x "$tool" ] || continue
    style=$(style_of "$tool")
    [ -n "$style" ] || continue
    case " ${seen:-} " in *" $style "*) continue ;; esac
    seen="${seen:-} $style"
    pprof=$("$tool" tool -n pprof 2>/dev/null)
    [ -x "$pprof" ] || pprof="$tool tool pprof"
    compared=0
    compare_all "${CPPROF_FIRST_SEED:-300}" "${CPPROF_LAST_SEED:-300}"
    echo "$compared graphs compared with $("$tool" version)"
done
[ -n "${seen:-}" ] || echo "skipped the comparison with go tool pprof: neither Go 1.19 nor Go 1.26 is installed"

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

[ $failures = 0 ]
