# shellcheck shell=sh disable=SC2034 # scripts use the variables
# SPDX-License-Identifier: MIT
#
# cpprof_lib.sh: what the scripts on the reports and manners of cpprof share. A script includes it first:
#
#   . "$SRC/test/e2e/cpprof_lib.sh"
#
# It then stands in an empty folder $work that is removed at the end. Unlike lib.sh it goes on after a failure: the script
# ends with `finish_tests`.
set -u
exec </dev/null # cpprof reads what is given to it there

: "${BUILD:?the build directory}" "${SRC:?the source directory}"
cpprof=$BUILD/bin/cpprof
generate=$BUILD/test/cpprof/generate
golden=$SRC/test/golden
go=$golden/go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# What Go has built once is there also where $HOME is another folder.
GOCACHE=${GOCACHE:-$(go env GOCACHE 2>/dev/null || true)}
export GOCACHE TZ=UTC HOME="$work" PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work"
unset NO_COLOR CPPROF_PAGER PAGER LESS
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# run STATUS WORDS...: cpprof ends with that status. Its output is in out, complaints are in err.
run() {
    status=$1
    shift
    "$cpprof" "$@" >out 2>err
    got=$?
    [ $got = "$status" ] || fail "cpprof $*: expected exit status $status, found $got: $(cat err)"
}

# expect EXPECTED-FILE WORDS...: the output of cpprof is that file.
expect() {
    expected=$1
    shift
    run 0 "$@"
    cmp -s out "$expected" || {
        fail "$*: the output differs from $expected"
        diff "$expected" out | head -20 >&2
    }
}

# refuse STATUS TEXT WORDS...: cpprof ends with that status, complains with that text, and prints nothing else.
refuse() {
    refusal=$2 refused_with=$1
    shift 2
    run "$refused_with" "$@"
    grep -qF -- "$refusal" err || fail "$*: expected '$refusal', found '$(cat err)'"
    [ ! -s out ] || fail "$*: wrote to standard output although it failed"
}

# with_each_go COMMAND: for each Go that is installed and whose text cpprof knows, with its $pprof and $style. It counts in $compared.
with_each_go() {
    styles=
    for tool in "$(command -v go)" /usr/lib/go-*/bin/go; do
        case $("$tool" version 2>/dev/null) in
        *" go1.19"*) style=go1.19 ;;
        *" go1.26"*) style=go1.26 ;;
        *) continue ;;
        esac
        case " $styles " in *" $style "*) continue ;; esac
        styles="$styles $style"
        pprof=$("$tool" tool -n pprof 2>/dev/null)
        [ -x "$pprof" ] || pprof="$tool tool pprof"
        compared=0
        "$1"
        echo "$compared comparisons with $("$tool" version)"
    done
    [ -n "$styles" ] || echo "skipped the comparison with go tool pprof: neither Go 1.19 nor Go 1.26 is installed"
}

finish_tests() {
    [ $failures = 0 ]
    exit
}
