#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_sets.sh: each test is in the daily set or in one third of the nightly one, as ./test.sh asks ctest for them; runs of
# .ci/run that find nothing take one third after the other, and each line of a list in one of them.

set -eu
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/bin"
cp "$SRC/test.sh" "$work/"
cp "$SRC/tools/turn" "$work/tools/"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# player FILE: a program, whose script comes on standard input.
player() {
    { echo '#!/bin/sh' && cat; } >"$work/$1"
    chmod +x "$work/$1"
}
# ./test.sh builds nothing, and ctest only lists the tests.
player tools/bootstrap </dev/null
player bin/cmake </dev/null
player bin/ctest <<SH
while [ "\$1" != -LE ]; do shift; done
exec "$(command -v ctest)" --test-dir "$BUILD" -N -LE "\$2"
SH

# tests_of OPTION...: the names that ./test.sh with these options runs in one build.
tests_of() {
    PATH="$work/bin:$PATH" "$work/test.sh" --quick "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | sort
}

tests_of --all >"$work/all"
tests_of >"$work/daily"
cp "$work/daily" "$work/in-a-set"
for third in 1 2 3; do
    tests_of --third $third | comm -13 "$work/daily" - >"$work/third"
    [ -s "$work/third" ] || fail "third $third is empty"
    cat "$work/third" >>"$work/in-a-set"
done
[ "$(wc -l <"$work/daily")" -gt 200 ] || fail "the daily set has $(wc -l <"$work/daily") tests"
sort "$work/in-a-set" | diff - "$work/all" >&2 || fail "< in two sets, > in none"
for options in "--third 4" --third "--third --all" --some; do
    # shellcheck disable=SC2086 # words
    ! tests_of $options 2>/dev/null | grep . || fail "test.sh takes $options"
done

# ---- whose turn it is ----

turn=$work/tools/turn
seen=
for _ in 1 2 3; do
    third=$("$turn")
    [ "$third" = "$("$turn")" ] || fail "a run that found something is not followed by the same third"
    "$turn" --done "$third"
    seen="$seen$third"
done
case $seen in
123 | 231 | 312) ;;
*) fail "runs take the thirds $seen" ;;
esac

eval "$(sed -n '/^in_turn() {/,/^}/p' "$SRC/.ci/run")"
for turn in 1 2 3; do
    seq 100 | in_turn
done | sort -n >"$work/taken"
seq 100 | diff - "$work/taken" >&2 || fail "< lines that no turn takes, > lines that two take"
