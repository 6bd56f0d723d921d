#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_examples.sh: the programs of examples/ run, and their profiles say what their comments promise.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
examples=$BUILD/examples

# objects_of RAW LEAF FUNCTION: as blocks_of, of the stacks whose leaf is that one: what the pool takes
# from malloc is in the profile as well.
objects_of() {
    blocks "$1" | awk -F '\t' -v leaf="$2" -v name="$3" '
        $2 == leaf && index($0 "\t", "\t" name "\t") {
            split($1, v, " "); for (k = 1; k <= 4; k++) sum[k] += v[k] }
        END { printf "%d %d %d %d\n", sum[1], sum[2], sum[3], sum[4] }'
}

# A pool's objects, by who has them; 4 standard errors of some 250 and 12 000 samples.
expect_equal "status of pool" 0 "$(status "$examples/pool" pool.pb.gz | tail -n 1)"
raw pool.pb.gz
pool=$(objects_of pool.pb.gz.raw pool_alloc open_sessions)
expect_near "objects given to open_sessions" 20000 "$(field 1 "$pool")" 3600
expect_near "objects that open_sessions has" 10000 "$(field 3 "$pool")" 2600
expect_near "objects given to serve_requests" 500000 \
    "$(field 1 "$(objects_of pool.pb.gz.raw pool_alloc serve_requests)")" 18200
expect_equal "what serve_requests has" "0 0" \
    "$(objects_of pool.pb.gz.raw pool_alloc serve_requests | cut -d ' ' -f 3-)"
expect_equal "leaves of the pool's objects, and of its memory" "pool_alloc pool_grow" "$(leaves_of pool.pb.gz.raw pool_alloc)"

# Connections that nobody closed: three of the client's, and the server's ends of them.
expect_equal "what connections says" "6 connections are open
0" "$(status "$examples/connections" connections.pb.gz)"
raw connections.pb.gz
connections=connections.pb.gz.raw
expect_equal "type" "example.connections/count" "$(sed -n '/^Samples:/ { n; p; }' $connections)"
expect_equal "open connections" 6 "$(weight $connections)"
expect_equal "those that fetch_status forgot" 3 \
    "$(weight_with $connections connect_to_server fetch_status main)"
expect_equal "those of the server" 3 "$(weight_with $connections accept_connection serve)"

# A server's tenants: three quarters of the time, to a tenth, and labels that went to another thread.
share_of() { # FILE TAG: percent of the weight
    go_pprof "$as_written" -raw -tagfocus="$2" "$1" >share.raw 2>/dev/null || fail "tagfocus $2"
    awk -v part="$(weight share.raw)" -v all="$(weight "$1.raw")" 'BEGIN { print 100 * part / all }'
}
check_requests() {
    expect_equal "status of requests" 0 "$(status "$examples/requests" requests.pb.gz | tail -n 1)"
    raw requests.pb.gz
    expect_near "percent of acme" 75 "$(share_of requests.pb.gz 'tenant=^acme$')" 10
    expect_near "percent of search" 50 "$(share_of requests.pb.gz 'phase=^search$')" 10
}
! has_cxx || attempts 4 check_requests

[ -x "$examples/boehm" ] || { echo "ok (without libgc)"; exit 0; }

# With the collector: the heap as it is when it is written, in use and allocated. A conservative collector may take a
# stale word for a pointer: a hundredth of the words is allowed.
expect_equal "status of boehm" 0 "$(status "$examples/boehm" collected.pb.gz | tail -n 1)"
raw collected.pb.gz
expect_equal "documents, collected" "2000 2000000 2000 2000000" \
    "$(objects_of collected.pb.gz.raw gc_new load_documents)"
collected=$(objects_of collected.pb.gz.raw gc_new parse_words)
expect_equal "all words" "40000 8000000" "$(echo "$collected" | cut -d ' ' -f 1-2)"
expect_near "words in use, collected" 0 "$(field 3 "$collected")" 200

# With the cycle alone: the heap as it was at the end of the last marking.
expect_equal "status of boehm, late" 0 "$(status "$examples/boehm" cycle.pb.gz late | tail -n 1)"
raw cycle.pb.gz
expect_equal "documents" "2000 2000000 2000 2000000" \
    "$(objects_of cycle.pb.gz.raw gc_new load_documents)"
cycle=$(objects_of cycle.pb.gz.raw gc_new parse_words)
expect_equal "words before the last marking" "20000 4000000" "$(echo "$cycle" | cut -d ' ' -f 1-2)"
expect_near "words in use" 0 "$(field 3 "$cycle")" 200

# Bypassed: what was allocated since then looks as if it were in use.
expect_equal "status of boehm, bypassed" 0 "$(status "$examples/boehm" bypass.pb.gz bypass | tail -n 1)"
raw bypass.pb.gz
expect_equal "documents, bypassed" "2000 2000000 2000 2000000" \
    "$(objects_of bypass.pb.gz.raw gc_new load_documents)"
bypass=$(objects_of bypass.pb.gz.raw gc_new parse_words)
expect_equal "words, bypassed" "40000 8000000" "$(echo "$bypass" | cut -d ' ' -f 1-2)"
expect_at_least "dead words that are shown as in use" 20000 "$(field 3 "$bypass")"
echo ok
