#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_lines.sh: symbolize=lines: files, lines and inlined functions in profiles of each kind, as go tool pprof of each
# version that is here shows them, with the program there, without it, and with another one in its place; in texts; and
# the same lines as addr2line and llvm-symbolizer find.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go readelf
c=$SRC/test/e2e/linked/lines.c
cxx=$SRC/test/e2e/linked/lines_cxx.cc
header=$SRC/test/e2e/linked/lines_inline.h

# The programs are copies, so that they can be taken away.
mkdir cxx example.com
cp "$linked/lines" program
cp "$linked/lines_cxx" program_cxx
# A hypervisor may take the processor away for all of the 200 ms that they compute: then no sample has a stack.
until_sampled() { # PROFILE COMMAND...
    until_profile=$1
    shift
    for _ in 1 2 3 4 5; do
        "$@" 2>errors || fail "$*: $? $(cat errors)"
        expect_equal "messages" "" "$(cat errors)"
        raw "$until_profile"
        ! comments "$until_profile.raw" | grep -q ' of 0 samples taken' || continue
        return 0
    done
    fail "$*: no sample has a stack: $(comments "$until_profile.raw")"
}
until_sampled cpu.pb.gz ./program "$work" symbolize=lines
until_sampled cxx/cpu.pb.gz env LIBPPROF=symbolize=lines ./program_cxx "$work/cxx"

for kind in cpu heap block example.com/things; do
    expect_same_places $kind.pb.gz program
done
for kind in cpu heap block things; do
    expect_same_places cxx/$kind.pb.gz program_cxx
done

# ---- what readers show ----

# shows PROFILE FUNCTION FILE TEXT [SUFFIX [OTHER]]: `-lines -top` has the function in the line of that file with the text,
# or with the other one: in a short loop a processor may be interrupted at the same instruction again and again.
shows() {
    shown="$2 $3:$(line_of "$3" "$4")${5:+ $5}"
    shown_else=${6:+"$2 $3:$(line_of "$3" "$6") $5"}
    for go in $gos; do
        "$go" tool pprof -lines -top "$1" >top 2>errors || fail "$go: $(cat errors)"
        awk -v wanted="$shown" -v other="$shown_else" '
            function ends_with(text) { return text != "" && substr($0, length($0) - length(text)) == " " text }
            ends_with(wanted) || ends_with(other) { found = 1 }
            END { exit !found }' top || fail "$go: $1 does not show '$shown': $(cat top errors)"
    done
}

# lists PROFILE FUNCTION FILE TEXT: `-list` shows the source, and a value at that line.
lists() {
    listed=$(line_of "$3" "$4")
    for go in $gos; do
        "$go" tool pprof -list "^$2\$" "$1" >list 2>errors || fail "$go: $(cat errors)"
        grep -E "^ +[^ ]+ +[0-9][^ ]* +$listed:" list | grep -qF -- "$4" ||
            fail "$go: $1, $2: no value at line $listed: $(cat list errors)"
    done
}

expect_everything() {
    shows cpu.pb.gz inner_burn "$header" '(x >> 3) * (x | 1)' '(inline)' 'i < turns'
    shows cpu.pb.gz middle_burn "$c" 'inner_burn(x' '(inline)'
    shows cpu.pb.gz outer_burn "$c" 'x += middle_burn'
    shows heap.pb.gz inner_allocate "$header" 'malloc(size)' '(inline)'
    shows heap.pb.gz outer_allocate "$c" 'kept[i] = middle'
    shows block.pb.gz inner_wait "$header" 'pthread_cond_timedwait(c' '(inline)'
    shows block.pb.gz middle_wait "$c" 'inner_wait(&' '(inline)'
    shows example.com/things.pb.gz inner_add "$header" 'pprof_profile_add' '(inline)'
    shows example.com/things.pb.gz outer_add "$c" 'middle_add(i)'
    shows cxx/cpu.pb.gz shop::Till::turn "$cxx" 'return inner_burn' '(inline)'
    shows cxx/cpu.pb.gz shop::Till::burn "$cxx" 'x += turn(x)'
    shows cxx/heap.pb.gz shop::Till::take "$cxx" 'return inner_allocate' '(inline)'
    shows cxx/block.pb.gz shop::Till::wait "$cxx" 'waits();'
    shows cxx/things.pb.gz 'shop::(anonymous namespace)::add_anonymously' "$cxx" 'inner_add(things, v'
    lists cpu.pb.gz outer_burn "$c" 'x += middle_burn'
    lists cpu.pb.gz middle_burn "$c" 'inner_burn(x'
    lists heap.pb.gz outer_allocate "$c" 'kept[i] = middle'
    lists block.pb.gz middle_wait "$c" 'inner_wait(&'
    lists example.com/things.pb.gz inner_add "$header" 'pprof_profile_add'
    lists cxx/cpu.pb.gz shop::Till::burn "$cxx" 'x += turn(x)'
}
expect_everything

# Only what has debug information says that nothing is missing.
go tool pprof -symbolize=none -raw cpu.pb.gz >cpu.raw 2>errors || fail "$(cat errors)"
grep -q '^1: .*/program [0-9a-f]* \[FN\]\[FL\]\[LN\]\[IN\]$' cpu.raw || fail "the program's mapping: $(cat cpu.raw)"
! grep -q ' \[vdso\] .*\[[FL]' cpu.raw || fail "a mapping without debug information: $(cat cpu.raw)"

# ---- texts ----

frames_of_text() {
    awk -F '\t+' '/^#\t0x/ && $4 ~ /:[0-9]+$/ { sub(/\+0x[0-9a-f]+$/, "", $3); print $3, $4 }' "$1" |
        grep -F "$SRC/test" | sort -u
}
frames_of_proto() { places "$1" | cut -f 2- | tr '\t' '\n' | grep ':[0-9]*$' | sort -u; }
for kind in heap block example.com/things; do
    awk -v show=forms -f "$SRC/test/e2e/text_form.awk" $kind.txt >forms || fail "the form of $kind.txt, see above"
    frames_of_text $kind.txt >of_text
    frames_of_proto $kind.pb.gz >of_proto
    diff of_text of_proto >&2 || fail "$kind: lines of the text (<) and of the profile (>)"
    go tool pprof -raw $kind.txt >text.raw 2>errors || fail "$kind.txt: $(cat errors)"
done

# What was inlined has the address and the offset of what it was inlined into.
expect_equal "addresses and offsets of an allocation" 1 \
    "$(sed -n 's/^#\t\(0x[0-9a-f]*\)\t[a-z]*_allocate\(+0x[0-9a-f]*\)\t.*/\1\2/p' heap.txt | sort -u | wc -l)"
grep -qE "^	$c:[0-9]+ \+0x[0-9a-f]+\$" goroutine.debug2.txt || fail "no line: $(cat goroutine.debug2.txt)"
grep -qE "^	$work/program \+0x" goroutine.debug2.txt || fail "no module: $(cat goroutine.debug2.txt)"

# ---- the program is not there any more, or another one is ----

rm program program_cxx
expect_everything
cp "$linked/profiles" program
cp "$linked/cxx_scopes" program_cxx
expect_everything
echo ok
