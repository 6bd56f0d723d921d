#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_alloctrace.sh: with the option alloctrace every allocation and free is on the log, with its stack;
# nothing waits for ever, whatever interrupts an event.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need timeout

trace() { # CASE [OPTIONS]: the log in trace.log
    rm -f trace.log
    expect_equal "status of $1" 42 "$(status timeout -s KILL 60 \
        env LIBPPROF="alloctrace,log=$work/trace.log${2:+,$2}" LD_PRELOAD="$library" \
        "$victims/alloctrace" "$1" 2>errors | tail -n 1)"
    expect_equal "messages of $1" "" "$(cat errors)"
}

# events: the log as lines "header|thread header|function function ...", for events of programs.
events() {
    awk 'BEGIN { RS = ""; FS = "\n" } {
        line = $1 "|" $2 "|"
        for (i = 3; i <= NF; i++) { split($i, part, " "); sub(/\+.*/, "", part[2]); line = line part[2] " " }
        print line
    }' trace.log
}

# of FUNCTION: its events without addresses, one a line.
of() {
    events | awk -F '|' -v name="$1" '$3 ~ ("(^| )" name " kinds main ") {
        sub(/\(0x[0-9a-f]+/, "(P", $1); printf "%s;", $1 }'
}

# ---- each kind ----

# Freed sizes are what libc set aside. glibc: at least 24, and 8 more than a multiple of 16; musl says what was asked for.
set_aside=0x68
of_calloc="tracealloc(P, 0x15, calloc);tracefree(P, 0x18);"
of_realloc="tracealloc(P, 0xa, malloc);tracefree(P, 0x18);tracealloc(P, 0x1388, realloc);tracefree(P, 0x1388);"
of_aligned="tracealloc(P, 0x12c, posix_memalign);tracefree(P, 0x138);"
of_strdup="tracealloc(P, 0x6, malloc);tracefree(P, 0x18);"
if is_musl "$library"; then # its calloc calls malloc, its posix_memalign aligned_alloc
    set_aside=0x64
    of_calloc="tracealloc(P, 0x15, malloc);tracefree(P, 0x15);"
    of_realloc="tracealloc(P, 0xa, malloc);tracefree(P, 0xa);tracealloc(P, 0x1388, realloc);tracefree(P, 0x1388);"
    of_aligned="tracealloc(P, 0x12c, aligned_alloc);tracefree(P, 0x12c);"
    of_strdup="tracealloc(P, 0x6, malloc);tracefree(P, 0x6);"
fi
trace kinds
expect_equal "events of traced_malloc" "tracealloc(P, 0x64, malloc);tracefree(P, $set_aside);" \
    "$(of traced_malloc)"
expect_equal "events of traced_calloc" "$of_calloc" "$(of traced_calloc)"
expect_equal "events of traced_realloc" "$of_realloc" "$(of traced_realloc)"
expect_equal "events of traced_failure" \
    "tracealloc(P, 0x28, malloc);tracefree(P, 0x28);tracealloc(P, 0x28, realloc);tracefree(P, 0x28);" \
    "$(of traced_failure)"
expect_equal "events of traced_aligned" "$of_aligned" "$(of traced_aligned)"
expect_equal "events of traced_strdup" "$of_strdup" \
    "$(events | awk -F '|' '$3 ~ / ?traced_strdup kinds main / { sub(/\(0x[0-9a-f]+/, "(P", $1); printf "%s;", $1 }')"
expect_equal "events of traced_nothing" "" "$(of traced_nothing)"
block=$(sed -n 's/^tracealloc(\(0x[0-9a-f]*\), 0x64, malloc)$/\1/p' trace.log | tail -n 1)
expect_contains "the free of the block of 100 bytes" trace.log "tracefree($block, $set_aside)"
grep -q '^thread [0-9]* "alloctrace" \[running\]:$' trace.log || fail "no header of the thread"
grep -q '^	0x[0-9a-f]* main+0x[0-9a-f]* /.*/alloctrace+0x[0-9a-f]*$' trace.log || fail "no frame of main"

# Every event is whole, and nothing else is in the log.
whole() {
    awk 'BEGIN { RS = ""; FS = "\n" }
        $1 !~ /^trace(alloc\(0x[0-9a-f]+, 0x[0-9a-f]+, [a-z_A-Z0-9]+|free\(0x[0-9a-f]+, 0x[0-9a-f]+)\)$/ { bad = 1 }
        $2 !~ /^thread [0-9]+ ".*" \[running\]:$/ || NF < 3 { bad = 1 }
        { for (i = 3; i <= NF; i++) if ($i !~ /^\t0x[0-9a-f]+/) bad = 1 }
        bad { print "in event " NR ": " $0; exit 1 }' trace.log >&2 || fail "the log of $1"
}
whole kinds

# Without names, addresses and modules are left out; beside profiles.
trace kinds "symbolize=none"
! grep -q main trace.log || fail "names although symbolize=none"
trace kinds "heap:1,file=$work/%k.pb.gz"
expect_equal "events beside the heap profile" "tracealloc(P, 0x64, malloc);tracefree(P, $set_aside);" \
    "$(of traced_malloc)"
[ -s heap.pb.gz ] || fail "no heap profile"

# On stderr if nothing else is said.
expect_equal "status with the trace on stderr" 42 \
    "$(status preload alloctrace "$victims/alloctrace" kinds 2>trace.log)"
expect_equal "events on stderr" "tracealloc(P, 0x64, malloc);tracefree(P, $set_aside);" "$(of traced_malloc)"

# ---- under way ----

trace threads
whole threads
# 3 threads of 300 blocks; a block that one has handed over is freed by whoever comes next.
expect_equal "allocations of work" 900 "$(events | grep -c '^tracealloc.*|work ')"
expect_equal "frees of work" 899 "$(events | grep -c '^tracefree.*|work ')"
expect_equal "threads" 3 "$(events | awk -F '|' '$3 ~ /^work / { print $2 }' | sort -u | wc -l)"

if ! is_musl "$library"; then # whose malloc in a handler harms the one that it interrupts
    trace signals
    whole signals
    # Of 50. A handler that interrupts the allocator itself is taken for a part of it.
    expect_at_least "allocations of the handler" 25 "$(events | grep -c '^tracealloc.*, calloc)|.*|on_signal ')"
fi

# Children are not traced after the fork without `subprocesses`, and with it they are.
trace forks
whole forks
trace forks subprocesses
whole forks
expect_at_least "allocations of children" 300 \
    "$(events | grep -c '^tracealloc(0x[0-9a-f]*, 0x4d, malloc)|.*|allocate_in_child ')"

# ---- described heaps, as Go's own ----

# sizes_of_freed: how many frees have the size with which the address was given out; other sizes.
sizes_of_freed() {
    awk -F '[(), ]+' '
        /^tracealloc\(/ { size[$2] = $3 }
        /^tracefree\(/ {
            if ($2 in size) { if ($3 == size[$2]) agree++; else other = other " " $3 }
            delete size[$2]
        }
        END { print agree + 0 other }'
}

for options in alloctrace alloctrace,heap:1,file=/dev/null alloctrace,heap; do
    rm -f described.log
    expect_equal "status of described, $options" 42 \
        "$(status env LIBPPROF="$options,log=$work/described.log" "$linked/described")"
    expect_equal "described objects with $options" "6" \
        "$(grep '^trace.*(0x10000[0-9a-f]\{3\}, ' described.log | sizes_of_freed)"
done
expect_equal "described frees" "0x64 0x0 0x1388 0x100000 0x64 0x9 unknown unknown " \
    "$(sed -n 's/^tracefree(0x10000[0-9a-f]\{3\}, \(.*\))$/\1/p' described.log | tr '\n' ' ')"

for go in "$(command -v go || true)" /usr/bin/go; do
    case $("$go" env GOVERSION 2>/dev/null) in
    go1.1[0-9]* | go1.20*) ;;
    *) continue ;; # not there, or without this trace
    esac
    GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 GOCACHE=${GOCACHE:-$work/cache} \
        "$go" build -o traced "$SRC/test/e2e/go/traced.go" || continue
    GODEBUG=allocfreetrace=1 ./traced 2>go.log
    freed=$(sizes_of_freed <go.log)
    expect_at_least "blocks that Go has traced to their end" 100 "$(field 1 "$freed")"
    expect_equal "blocks that Go frees with another size" "$(field 1 "$freed")" "$freed"
done

# A program that knows better is told.
preload "log=$work/bad.log,alloctrace=1" "$victims/alloctrace" kinds || true
expect_contains "message" bad.log "alloctrace, without a value"
expect_equal "events with a bad value" 0 "$(grep -c '^trace' bad.log)"
echo ok
