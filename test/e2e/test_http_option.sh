#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_http_option.sh: LIBPPROF=http=... in a program that knows nothing of it: `go tool pprof` reads every profile by its
# URL, with names in the profile and without; bad addresses and a missing libpprof-http.so do not hurt the program.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

# top FUNCTION ARGUMENTS...: `go tool pprof -top` of a URL names the function.
top() {
    top_function=$1
    shift
    go tool pprof -top "$@" >top.txt 2>top.err || fail "go tool pprof $*: $(cat top.err)"
    expect_contains "go tool pprof $*" top.txt "$top_function"
}

read_all() {
    top burn_cpu "$url/profile?seconds=1"
    top burn_cpu -seconds 1 "$url/profile"
    top keep_memory "$url/heap"
    top drop_memory "$url/allocs"
    top hold_lock "$url/block"
    top hold_lock "$url/mutex"
    top wait_for_end "$url/thread"
    top wait_for_end "$url/goroutine"
    top main "$url/threadcreate"
    top keep_memory "$url/heap?seconds=1"
}

serve_guest heap:1,block,mutex
read_all
# The difference of two profiles that were fetched one after the other.
get before.pb.gz /allocs
top drop_memory -base before.pb.gz "$url/allocs"
# The viewer of Go, asked for its list of functions.
go tool pprof -http=127.0.0.1: -no_browser "$url/heap" >viewer.out 2>&1 &
viewer=$!
started="$started $viewer"
wait_until has_text viewer.out "Serving web UI on"
viewer_url=$(sed -n 's|.*Serving web UI on \(http://[^ ]*\).*|\1|p' viewer.out)
python3 "$ask" "${viewer_url%/}/ui/top" >viewer.page
expect_contains "Go's viewer" viewer.page keep_memory
kill "$viewer"
end_guest

# Without names in the profile, the reader asks for them: it POSTs addresses to symbol. (It has no binary to look into.)
serve_guest heap:1,symbolize=none
get nameless.pb.gz /heap
go tool pprof -raw -symbolize=none nameless.pb.gz >nameless.raw 2>/dev/null
! grep -q keep_memory nameless.raw || fail "the profile has names"
go tool pprof -top -symbolize=remote "$url/heap" >top.txt 2>top.err || fail "symbolize=remote: $(cat top.err)"
expect_contains "names from symbol" top.txt keep_memory
end_guest

# gperftools' paths.
serve_guest heap:1
top burn_cpu "${url%/debug/pprof}/pprof/profile?seconds=1"
top keep_memory "${url%/debug/pprof}/pprof/heap"
for name in growth contention symbol cmdline; do
    expect_equal "status of /pprof/$name" 200 "$(python3 "$ask" "${url%/debug/pprof}/pprof/$name" | sed -n 1p)"
done
end_guest

# What cannot be served is on the log, and the program goes on.
for bad in 127.0.0.1 127.0.0.1:99999 '[::1' example.com:80 unix: 999.1.1.1:0 ''; do
    # shellcheck disable=SC2034 # serve_guest reads it
    guest_address=$bad
    serve_guest ''
    end_guest
    grep -q '^libpprof: .*http' server.err || fail "nothing was said of http=$bad: $(cat server.err)"
done
mkdir alone
cp "$library" alone/libpprof.so.0
printf 'x\n' >input
LIBPPROF=http=127.0.0.1:0 LD_PRELOAD=$work/alone/libpprof.so.0 "$victims/web_guest" <input >alone.out 2>alone.err &&
    fail "the program should end with 7"
expect_contains "without libpprof-http.so" alone.err "libpprof-http.so.0 could not be loaded"
echo ok
