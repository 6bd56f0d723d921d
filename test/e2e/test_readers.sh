#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_readers.sh: what go tool pprof of each version that is here makes of a profile with names alone, and of one with lines,
# where the program is there, stripped, gone, or another one; the table in docs/READERS.md says the same.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc strip
source=$SRC/test/e2e/lines/plain.c
first=$(line_of "$source" 'things, things')
second=$(line_of "$source" 'things, &error')
in_main=$(line_of "$source" 'work(things) != 0')

build() { # TO FLAGS...
    build_to=$1
    shift
    cc -O1 "$@" -I "$SRC/include" -o "$build_to" "$source" "$library" -Wl,-rpath,"${library%/*}" || fail "cc $*"
}
build program.g -g
strip -o program.stripped program.g
cp program.g program
for symbolize in names lines; do
    LIBPPROF=symbolize=$symbolize ./program $symbolize.pb.gz 2>errors || fail "the program: $? $(cat errors)"
done

# top GO PROFILE OPTIONS...: "FLAT CUM NAME" of each function of the program.
top() {
    top_go=$1
    top_profile=$2
    shift 2
    "$top_go" tool pprof -top "$@" "$top_profile" 2>errors | awk '/flat%/ { on = 1; next } on { print $1, $4, $6, $7 }' |
        grep -v 'libc\|_start' | sed 's/ $//'
}
by_name="2 2 work
0 2 main"
by_line="1 1 work $source:$first
1 1 work $source:$second
0 2 main $source:$in_main"

# expect_names WHAT PROFILE OPTIONS...: aggregated by name, with no line.
expect_names() {
    names_of=$1
    shift
    for go in $gos; do
        expect_equal "$go: $names_of" "$by_name" "$(top "$go" "$@")"
        expect_equal "$go: $names_of, by lines" "$by_name" "$(top "$go" "$@" -lines)"
    done
}
expect_lines() {
    lines_of=$1
    shift
    for go in $gos; do
        expect_equal "$go: $lines_of" "$by_name" "$(top "$go" "$@")"
        expect_equal "$go: $lines_of, by lines" "$(echo "$by_line" | sort)" "$(top "$go" "$@" -lines | sort)"
        "$go" tool pprof -list '^work$' "$1" >list 2>errors || fail "$go: $lines_of: $(cat errors)"
        for number in "$first" "$second"; do
            grep -E "^ +1 +1 +$number:" list | grep -qF pprof_profile_add ||
                fail "$go: $lines_of: no value at line $number: $(cat list errors)"
        done
    done
}

# ---- names alone ----

# The reader adds lines where it has the program.
expect_lines "names, program there" names.pb.gz
expect_names "names, program there, not asked" names.pb.gz -symbolize=none

# It keeps the names where it finds nothing.
cp program.stripped program
expect_names "names, program stripped" names.pb.gz
rm program
expect_names "names, no program" names.pb.gz
expect_contains "what the reader says" errors "Local symbolization failed for program"
expect_names "names, no program, not asked" names.pb.gz -symbolize=none
expect_equal "what the reader says if it is not asked" "" "$(cat errors)"

# It asks nobody else: a file has no address. The C library is on this machine.
if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
    for go in $gos; do
        strace -f -e trace=connect -o trace "$("$go" tool -n pprof)" -top names.pb.gz >top 2>errors || fail "$go: $(cat errors)"
        ! grep AF_INET trace >&2 || fail "$go: the reader asks the network for names"
    done
fi

# ---- lines ----

for state in g stripped none other; do
    rm -f program
    case $state in
    none) ;;
    other) cp "$linked/profiles" program ;;
    *) cp program.$state program ;;
    esac
    expect_lines "lines, program $state" lines.pb.gz
done
echo ok
