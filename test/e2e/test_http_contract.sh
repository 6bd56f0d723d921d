#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 1
#
# test_http_contract.sh: the same requests to a Go program with net/http/pprof and to one of ours: status, headers, and the
# shape of the body. What differs is listed here, with its reason; both sides must be as the list says. With every Go that
# is installed.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

# start DESCRIPTOR NAME COMMAND...: the command serves until DESCRIPTOR is closed, at the port in NAME.port.
start() {
    start_descriptor=$1 start_name=$2
    shift 2
    rm -f "$start_name.in" "$start_name.port"
    mkfifo "$start_name.in"
    "$@" <"$start_name.in" >"$start_name.port" 2>/dev/null &
    started="$started $!"
    eval "exec $start_descriptor>\"\$start_name.in\""
    wait_until test -s "$start_name.port"
}

# ---- what is the same ----

for name in heap allocs block mutex goroutine threadcreate example.com/custom; do
    for query in '' '?debug=1' '?debug=0' '?debug=abc' '?debug=99999999999999999999' '?seconds=abc' '?seconds=0' \
        '?seconds=-1' '?seconds=99999999999999999999' '?seconds='; do
        echo "/debug/pprof/$name$query"
    done
done >same
for name in heap allocs block mutex goroutine threadcreate; do
    echo "/debug/pprof/$name?seconds=1&debug=1" | sed "s/.*/'&'/"
done >>same
cat >>same <<'SAME'
/debug/pprof
/debug/pprof/heap?seconds=1
/debug/pprof/goroutine?seconds=1
/debug/pprof/example.com/custom?seconds=1
/debug/pprof/example.com%2Fcustom
/debug/pprof/goroutine?debug=2
/debug/pprof/heap?gc=1
/debug/pprof/heap?%64ebug=%31
/debug/pprof/heap?debug=%zz
/debug/pprof/profile?seconds=1
/debug/pprof/nope
/debug/pprof/nope?seconds=1
/debug/pprof/Heap
/debug/pprof/
/debug/pprof/?debug=1
/debug/pprof/symbol
/debug/pprof/symbol?0x1
/debug/pprof/symbol?garbage
/debug/pprof/symbol?
/debug/pprof/symbol -d ""
/debug/pprof/symbol -d 0x1+0x2
/debug/pprof/heap -X HEAD
/debug/pprof/heap?debug=1 -X HEAD
/debug/pprof/nope -X HEAD
/nothing
SAME

# ---- what is not: our status, Go's, the request, and why ----

cat >known <<'KNOWN'
501 200 /debug/pprof/trace?seconds=1        # there is no execution tracer
405 200 /debug/pprof/heap -X POST           # only symbol takes a POST
200 404 /debug/pprof/flame?profile=heap     # Go has no page
200 404 /debug/pprof/delta_heap             # Go has no change since the last request
200 404 /debug/pprof/thread                 # goroutine, by its own name
200 404 /pprof/heap                         # gperftools' paths
404 301 /debug/pprof/../heap                # no path is cleaned: it is a name that there is not
KNOWN
sed 's/#.*//; s/^[0-9]* [0-9]* //' known >known.requests

# answers_of PORT: to `same`, with what the two programs or Go's versions word differently in one form: goroutines are
# threads here, what is moved permanently has a body of its own, a page of 404 has other headers.
answers_of() {
    python3 "$ask" -i "http://127.0.0.1:$1" <same | sed -e 's/goroutine/thread/g' -e 's/^a stack: thread.*/a stack/' \
        -e '/^== \/debug\/pprof$/,/^==/ { /^content-type/d; /^x-/d; /^<a href/d; /^Moved/d; s/^html.*//; /^$/d }' \
        -e '/^== \/nothing$/,$ { /^x-go/d }'
}

statuses_of() {
    python3 "$ask" -i "http://127.0.0.1:$1" <known.requests | sed -n '/^==/ { n; p; }'
}

compare() { # GO
    GO111MODULE=off GOTOOLCHAIN=local "$1" build -o "$work/go_http" "$SRC/test/e2e/go/http.go" || fail "$1 build"
    start 7 ours "$linked/http_contract"
    start 8 theirs ./go_http
    answers_of "$(cat ours.port)" >ours.answers &
    answers=$!
    answers_of "$(cat theirs.port)" >theirs.answers
    wait $answers
    diff -u theirs.answers ours.answers >differences || fail "$("$1" version) answers (-), we answer (+): $(cat differences)"
    expect_equal "requests that were answered" "$(wc -l <same)" "$(grep -c '^==' ours.answers)"
    expect_equal "our known differences" "$(cut -d ' ' -f 1 known)" "$(statuses_of "$(cat ours.port)")"
    expect_equal "Go's known differences" "$(cut -d ' ' -f 2 known)" "$(statuses_of "$(cat theirs.port)")"
    expect_equal "our command line" "$linked/http_contract" \
        "$(python3 "$ask" "http://127.0.0.1:$(cat ours.port)/debug/pprof/cmdline" | tail -n 1)"
    exec 7>&- 8>&-
    echo "$(wc -l <same) requests are answered as by $("$1" version), $(wc -l <known) differ as they should"
}

compared=0
for go in "$(command -v go)" /usr/lib/go-*/bin/go; do
    "$go" list net/http >/dev/null 2>&1 || continue # not there, or without its packages
    compare "$go"
    compared=$((compared + 1))
done
[ $compared -gt 0 ] || absent "Go that can build"
