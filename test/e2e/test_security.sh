#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, what follows the system calls (test/torture/torture.c) knows glibc only
# timeout: 900
#
# test_security.sh: what the library opens, lists, looks at, creates, binds and executes with each option is what the table of SECURITY.md
# says, and without options nearly nothing; nothing of the table is untrue. Files are for their owner alone. It reads no variables but those of the
# other table.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
torture=$BUILD/test/torture/torture
[ -x "$torture" ] || skip "the tool knows glibc only"

# ---- what it touches ----

# The table: what | with. One line for each pair.
sed -n '/^## What it touches/,/^## /p' "$SRC/SECURITY.md" | sed -n 's/^| `\([^|]*\)` | \(.*\) |$/\1\t\2/p' >table
expect_at_least "rows of the table" 15 "$(wc -l <table)"

# named: lines of the tool, in the table's words.
named() {
    sed -E 's|^reads (/proc/self/task/)?PID/(stat\|status\|syscall\|schedstat\|comm)$|reads /proc/self/task/PID/FILE|
        s|^(reads\|looks) .*(/\.debug/\|/usr/lib/debug/).*|\1 a debug file|
        s|^(reads\|looks) .*(\.so(\.[0-9.]+)?\|/torture)$|\1 a loaded file|
        s|^creates %D/profiles/.*gz\.tmp\..*|creates a temporary name beside the profile|
        s|^looks %D/profiles/.*gz$|looks the profile|
        s@^looks (/lib|/proc/self)$@looks a link on the way to a file@
        s|^renames %D/profiles/.*gz$|renames it to the name of the profile|
        s|^(binds\|looks\|removes) (%D/profiles/\|/tmp/[^/]*/run/pprof/)?[a-z0-9PID]*\.sock$|\1 the socket|
        s|^creates %D/profiles/log$|creates the log|
        s|^(creates\|looks\|lists) (/tmp/[^/]*/run/pprof\|%D/profiles)$|\1 the socket'"'"'s folder|' | sort -u
}

# touches OPTION...: each line that these options cause is in the table, with one of them, "profiles" or "all".
touches() {
    rm -rf run
    mkdir -m 700 run
    XDG_RUNTIME_DIR=$work/run "$torture" --library "$library" --options "$1,file=%D/%e.%p.%k.pb.gz" --touched -- \
        "$victims/torture" >touched.out 2>touched.err || [ $? != 77 ] || skip "$(cat touched.err)"
    ! grep -q '^FAIL' touched.out || fail "$1: $(cat touched.out touched.err)"
    named <touched.out >named.out
    printf '%s\n' "$1" | tr ',' '\n' | sed 's/[:=].*//' >words
    case $1 in
    otel | crash) ;;
    *) echo profiles >>words ;;
    esac
    echo all >>words
    awk -F '\t' 'FILENAME == "words" { word[$1]; next }
        FILENAME == "table" {
            n = split($2, with, /[ ,`]+/)
            for (i = 1; i <= n; i++) if (with[i] in word) allowed[$1]
            next
        }
        !($0 in allowed) { print }' words table named.out >untold
    expect_equal "what $1 does and SECURITY.md does not say" "" "$(cat untold)"
    cat named.out >>seen
}

: >seen
for kind in cpu heap:4k block mutex thread fd peak leak:4k lifetime memory wall; do
    touches $kind
done
touches otel
touches crash
touches cpu:1000,engine=perf
touches cpu,interval=20ms
touches cpu,duration=1s
touches cpu,signal=USR2
touches cpu,subprocesses
touches cpu,follow-exec
touches cpu,symbolize=lines
touches heap:4k,log=%D/log,nonsense
touches cpu=shared,http=unix:%D/http.sock
touches http=127.0.0.1:0
touches control
touches push=http://127.0.0.1:1
sort -u seen >seen.all
# There is a profile before only if an interval was over in time, and not every machine has debug files, or a libdw that looks at links.
expect_equal "rows of SECURITY.md that nothing does" "" "$(cut -f 1 table | grep -vxFf seen.all | grep -vxE 'looks the profile|looks a link on the way to a file|reads a debug file' | tr '\n' ' ')"
! grep -E '^(executes|connects)' seen.all || fail "the library executes or connects"

"$torture" --library "$library" --options "" --touched -- "$victims/torture" >touched.out
expect_equal "what it touches without an option" "looks /proc/self/task" "$(sort -u touched.out)"

# ---- modes ----

(umask 0 && preload "heap:4k,log=$work/log,nonsense,file=$work/modes.pb.gz" "$victims/torture" >modes.out) || true
expect_equal "modes of the profile and the log" "600 600" "$(stat -c %a modes.pb.gz log | tr '\n' ' ' | sed 's/ $//')"

# ---- variables ----

# Of the sources: what is asked for by a name.
cat "$SRC"/src/*/*.c "$SRC"/src/kinds/*/*.c "$SRC"/http/*.c "$SRC"/push/*.c |
    grep -oE '(getenv|take_variable)\("[A-Z_]+"' | sed 's/.*("//; s/"//' | sort -u >variables
grep -rohE '"(CPUPROFILE[A-Z_]*|HEAPPROFILE)"' "$SRC/src" | tr -d '"' | sort -u >>variables
[ -s variables ] || fail "the library reads no variables"
while read -r variable; do
    grep -qE "^\|.*\`$variable\`.*\|" "$SRC/SECURITY.md" || fail "SECURITY.md does not name the variable $variable"
done <variables
echo ok
