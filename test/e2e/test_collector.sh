#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_collector.sh: the program's collector is run before a profile of the heap is written, and nowhere else; what it
# may do; and that it is run by no end of the process that may have come at any point.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

run() { timeout -s KILL 60 "$linked/collector" "$@" 2>errors || fail "$*: status $?, $(cat errors)"; }

expect_equal "calls" "\

heap 0: collect 
heap 1: collect 
heap 2: collect 
heap -1: collect 
allocs 0: collect 
allocs 1: collect 
allocs -1: collect 
block 0: 
block 1: 
mutex 1: 
threadcreate 0: 
goroutine 2: 
write_heap: collect 
errors: 
count: 0-0 
none: " "$(run calls)"

# Garbage is not in use, whatever was allocated last. Each run is forced, and ends a cycle.
expect_equal "garbage" "\
collect 100-0 collect 200-0 collect # NumGC = 3
# NumForcedGC = 3
# EnableGC = true
# DebugGC = false" "$(run garbage)"

statistics() { run "$1" | sed -n 's/^\(.* \)*# //p' | grep -v DebugGC | tr '\n' ' '; }
expect_equal "a collector that ends no cycles" "\
NumGC = 0 NumForcedGC = 0 EnableGC = false NumGC = 1 NumForcedGC = 1 EnableGC = true \
NumGC = 2 NumForcedGC = 2 EnableGC = true NumGC = 2 NumForcedGC = 2 EnableGC = false " "$(statistics without-cycles)"
expect_equal "cycles without a collector" "\
NumGC = 0 NumForcedGC = 0 EnableGC = false NumGC = 1 NumForcedGC = 0 EnableGC = true " "$(statistics cycles-only)"

expect_equal "a collector that writes profiles" "collect collect " "$(run recursion)"
expect_equal "a collector that jumps" "collect collect collect " "$(run jump)"
expect_equal "four threads" "80 runs " "$(run threads)"

# ---- the end: what there is to be written, and by which way ----

end() { # LIBPPROF CASE [FLAG...]
    rm -f end.pb.gz
    end_options=$1
    shift
    end_status=0
    LIBPPROF=$end_options timeout -s KILL 60 "$linked/collector" "$@" 2>errors || end_status=$?
    expect_equal "messages of $*" "" "$(grep -vx Terminated errors)" # which the shell says
    [ "$end_status" -eq 0 ] || printf 'status %s' "$end_status"
}
file="file=$work/end.pb.gz"
normal="last-atexit collect first-atexit "
expect_equal "nothing is to be written" "last-atexit first-atexit " "$(end cpu,file=/dev/null exit)"
expect_equal "exit()" "$normal" "$(end "heap:1,$file" exit)"
raw end.pb.gz
expect_equal "garbage in the file of the end" "100 100000 0 0" "$(blocks_of end.pb.gz.raw makes_garbage)"
expect_equal "-memprofile" "$normal" "$(end "" exit -memprofile end.pb.gz)"
raw end.pb.gz
expect_equal "garbage in -memprofile" "100 100000 0 0" "$(blocks_of end.pb.gz.raw makes_garbage)"
expect_equal "quick_exit()" "$normal" "$(end "heap:1,$file" quick_exit)"
expect_equal "no collector any more" "last-atexit first-atexit " "$(end "heap:1,$file" none)"
expect_equal "another collector" "collect last-atexit first-atexit " "$(end "heap:1,$file" another)"
expect_equal "_exit()" "" "$(end "heap:1,$file" _exit)"
raw end.pb.gz
expect_equal "SIGTERM" "status 143" "$(end "heap:1,$file" SIGTERM)"
raw end.pb.gz
expect_equal "exit() in a handler" "last-atexit first-atexit " "$(end "heap:1,$file" handler)"
raw end.pb.gz
expect_equal "children, without a profile" "last-atexit first-atexit | last-atexit first-atexit | last-atexit first-atexit " \
    "$(end "heap:1,$file" children)"
expect_equal "children, the second of which sets it again" \
    "last-atexit first-atexit | last-atexit collect first-atexit | last-atexit first-atexit " \
    "$(end "heap:1,subprocesses,file=$work/%p.pb.gz" children)"

# The trace has each cycle, or each run that ends none.
traced() { env LIBPPROF="alloctrace,log=$work/$1.log" "$linked/collector" "$1" >/dev/null; grep -c '^tracegc()$' "$work/$1.log"; }
expect_equal "traced cycles" 3 "$(traced garbage)"
expect_equal "traced runs" 2 "$(traced without-cycles)"
expect_equal "ends of traces" 3 "$(grep -c '^end tracegc$' garbage.log)"

# Its text: the thread that ends the cycle, then all others, each with its stack, and a blank line between two; the end
# is the last one's next line, and a blank line follows. For each thread: "FIRST FUNCTION... |".
collections() {
    awk '
        function bad(what) { print NR ": " what ": " $0; exit 1 }
        /^tracegc\(\)$/          { if (inside) bad("begins twice"); inside = want = 1; next }
        !inside                  { next }
        /^thread [0-9]+ ".*" \[.*\]:$/ {
            if (!want || seen[$2]++) bad("a thread")
            want = 0; frames = 0
            line = line "[" substr($0, index($0, "[") + 1, 7) "]"
            next
        }
        /^\t0x[0-9a-f]+ /        { if (want) bad("a frame"); frames++; sub(/\+.*/, "", $2); line = line " " $2; next }
        /^$/                     { if (want || !frames) bad("a blank line"); want = 1; line = line " |"; next }
        /^end tracegc$/          {
            if (want || !frames) bad("the end")
            if ((getline next_line) <= 0 || next_line != "") bad("no blank line after it")
            inside = 0; delete seen; print line; line = ""
            next
        }
        { bad("a line") }
        END { if (inside) print "has no end" }' "$1"
}
expect_equal "collections among threads" 1 "$(traced among-threads)"
collections among-threads.log >collection
grep -q '^\[running\] collect write_profile among_threads main .*|' collection || fail "the first thread: $(cat collection)"
expect_equal "others that stand" 3 "$(tr '|' '\n' <collection | grep -c ' stands ')"
expect_equal "threads" 4 "$(tr '|' '\n' <collection | wc -l)"
collections garbage.log >collection
expect_equal "collections of one thread" 3 "$(grep -c '^\[running\] collect [^|]*$' collection)"
echo ok
