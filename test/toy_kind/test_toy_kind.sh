#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_toy_kind.sh: a new kind of profile is one folder, and one line in src/kinds.c: this one is listed, looked up,
# started by its option, written in every form, at the end, at a signal, by a child, before an exec.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
program=$BUILD/test/toy_kind/program

expect_equal "lines outside of the folder" 1 \
    "$(diff "$SRC/src/kinds.c" "$BUILD/test/toy_kind/kinds.c" | grep -c '^>')"

# ---- by its name ----

expect_equal "listed, in its place" "threadcreate toy" \
    "$("$program" names | cut -d ' ' -f 1 | tail -n 2 | tr '\n' ' ' | sed 's/ $//')"
expect_equal "its count" "toy 2" "$("$program" names | grep '^toy')"
expect_equal "its name is taken" "File exists" "$("$program" taken)"

# ---- in every form ----

"$program" text 0 >toy.pb.gz
expect_equal "type" "toy/count" "$(go_pprof "$as_written" -raw toy.pb.gz | sed -n '/^Samples:/{n;p;}')"
expect_equal "first line of the text" "toy profile: total 2" "$("$program" text 1 | head -n 1)"
expect_equal "its site in the text" 2 "$("$program" text 1 | grep -c 'play_here+')"
expect_equal "addresses alone" 0 "$("$program" text -1 | grep -c 'play_here')"

# ---- by its option ----

# written HOW OPTIONS COMMAND STATUS: the file is there, and has the calls.
written() {
    rm -f ./*.pb.gz
    status=0
    env LIBPPROF="$2,file=$work/%k.%p.pb.gz" "$program" "$3" >out 2>errors || status=$?
    expect_equal "status $1" "$4" "$status"
    expect_equal "files $1" "$5" "$(find . -name 'toy.*.pb.gz' | wc -l)"
    [ "$5" -eq 0 ] || go_pprof "$as_written" -top toy.*.pb.gz 2>/dev/null >top
    [ "$5" -eq 0 ] || expect_equal "calls $1" 1 "$(grep -c 'play_here' top)"
}
written "at the end" toy names 0 1
written "beside another kind" toy,thread names 0 1
written "at a signal" toy kill 143 1
written "without being asked for" thread names 0 0
written "of a child too" toy,subprocesses fork 42 2
written "of no child" toy fork 42 1
written "before an exec" toy exec 0 1
written "by pprof_configure()" "duration=1h" ask 42 1
expect_equal "what is said of a bad word" 1 "$(grep -c "unknown option 'nonsense'" errors)"
written "with a value" toy:5 names 0 0
expect_equal "what is said of its value" 1 "$(grep -c "'toy:5' is ignored; write toy, without a value" errors)"
echo ok
