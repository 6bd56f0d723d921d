#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 1
#
# test_http_examples.sh: examples/http_server.c, and the servers that host the handler (libmicrohttpd, evhttp, civetweb), as
# far as their libraries are installed: all answer alike, and `go tool pprof` reads them.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3
examples=$BUILD/examples

cat >requests <<'REQUESTS'
/heap
/heap?debug=1
/heap?seconds=1
/thread?debug=2
/profile?seconds=1
/symbol?0x1
/symbol -d 0x1+0x2
/nope
/heap?seconds=abc
/heap -X HEAD
/trace
/profile?seconds=1 -H "Sec-Fetch-Site: cross-site"
/delta_heap -H "Origin: http://example.com"
/heap?debug=1 -H "Sec-Fetch-Site: cross-site"
REQUESTS

# begin EXAMPLE: serves until descriptor 9 is closed.
begin() {
    rm -f in
    mkfifo in
    "$examples/$1" <in >"$1.out" 2>"$1.err" &
    server=$!
    started="$started $server"
    exec 9>in
    wait_until test -s "$1.out"
    url=$(sed -n 's|/$||p' "$1.out")
}

# What every answer has; the servers' libraries add headers of their own.
check() { # EXAMPLE
    begin "$1"
    python3 "$ask" -i "$url" <requests 9>&- | sed 's/profile: N: N \[N: N\]/profile: .../; s, / .*rows$,,' >"$1.answers"
    go tool pprof -top "$url/heap" >top.txt 2>top.err 9>&- || fail "$1: go tool pprof: $(cat top.err)"
    expect_contains "$1: go tool pprof" top.txt "Type: inuse_space"
    # A request that waits does not hold up another one.
    python3 "$ask" "$url/profile?seconds=10" -o cpu.pb.gz >slow 9>&- &
    slow=$!
    wait_until grep -q '^ID:' "/proc/$server/timers"
    expect_equal "$1: status while a profile is collected" 200 "$(status_of /cmdline)"
    ! is_over $slow || fail "$1: the collection was over at once"
    wait $slow
    expect_equal "$1: status of the profile" 200 "$(sed -n 1p slow)"
    raw cpu.pb.gz
    exec 9>&-
    wait "$server" || fail "$1 ended with $?: $(cat "$1.err")"
}

for example in http_server http_microhttpd http_evhttp http_civetweb; do
    [ -x "$examples/$example" ] || continue
    check "$example"
    diff -u http_server.answers "$example.answers" >differences || fail "$example answers (+): $(cat differences)"
    checked="${checked-} $example"
done

# The example's own business goes on beside it.
begin http_server
echo 1000 >&9
wait_until has_line http_server.out 168
exec 9>&-
wait "$server" || fail "http_server ended with $?"
echo "ok:$checked"
