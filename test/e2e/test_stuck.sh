#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_stuck.sh: the profile of threads of a program that is ended by SIGTERM or SIGINT has every thread where it is: one
# that runs, one that waits, and the one on which the signal arrives.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout
find_signal_env
libc=libc.so.6
! is_musl "$library" || libc=ld-musl-$(uname -m).so.1

# not_of FILE FUNCTION RAW: the frames between FUNCTION and the leaf that are in another file; "none" if none is there.
not_of() {
    awk -v file="$1" -v wanted="$2" '
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+:/     { sub(/^[^:]*: */, ""); stack[++n] = $0 }
        part == 2 && /^ *[0-9]+: 0x/  { id = $1; sub(/:/, "", id); mapping[id] = substr($3, 3); name[id] = $4 }
        part == 3 && /^ *[0-9]+: 0x/  { id = $1; sub(/:/, "", id); path[id] = $3; sub(/.*[/]/, "", path[id]) }
        END {
            for (i = 1; i <= n; i++) {
                depth = split(stack[i], list, " ")
                for (at = 1; at <= depth && name[list[at]] != wanted; at++) ;
                if (at > depth) continue
                if (at == 1) print "none"
                for (k = 1; k < at; k++) if (path[mapping[list[k]]] != file) print name[list[k]], path[mapping[list[k]]]
            }
        }' "$3"
}

# ends SIGNAL WHO STATUS
ends() {
    rm -f "$1.$2.out"
    $signal_env env LIBPPROF="thread,file=$work/$1.$2.pb.gz" LD_PRELOAD="$library" \
        "$victims/stuck" "$2" >"$1.$2.out" 2>"$1.$2.err" &
    process=$!
    started="$started $process"
    wait_until has_line "$1.$2.out" ready
    kill -s "$1" $process
    ended=0
    wait $process || ended=$?
    expect_equal "status after SIG$1 on the thread that is $2" "$3" "$ended"
    raw "$1.$2.pb.gz"
    stacks="$1.$2.pb.gz.raw"
    expect_equal "threads after SIG$1, $2" 3 "$(weight "$stacks")"
    expect_equal "stacks that are missing after SIG$1, $2" 0 "$(weight_with "$stacks" pprof_missing_frames)"
    expect_equal "the thread that runs, after SIG$1, $2" 1 "$(weight_with "$stacks" spins)"
    expect_equal "the thread that waits, after SIG$1, $2" 1 "$(weight_with "$stacks" waits)"
    expect_equal "the first thread, after SIG$1, $2" 1 "$(weight_with "$stacks" waits_for_ever main)"
    # The function that waits calls into libc, and nothing but libc is between that and the leaf.
    expect_equal "frames above pause's caller that are not libc's, after SIG$1, $2" "" \
        "$(not_of $libc waits_for_ever "$stacks")"
}

# A thread that runs answers at a tick of its processor. One that gets none in two seconds, among fifty others, does not.
term_waiting() { ends TERM waiting 143; }
int_waiting() { ends INT waiting 130; }
term_running() { ends TERM running 143; }
attempts 3 term_waiting
attempts 3 int_waiting
attempts 3 term_running
echo ok
