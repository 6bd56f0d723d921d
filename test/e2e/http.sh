# shellcheck shell=sh disable=SC2034,SC2154 # scripts use the variables; lib.sh has others
# SPDX-License-Identifier: MIT
#
# http.sh: what the scripts about /debug/pprof/ share. A script includes it after lib.sh:
#
#   . "$SRC/test/e2e/http.sh"
#
# Requests are made by test/e2e/http/ask.py, which needs only python3.

ask=$SRC/test/e2e/http/ask.py

# get FILE PATH: the body of an answer that must be 200.
get() {
    python3 "$ask" "$url$2" -o "$1" >get.answer || fail "no answer to $2"
    expect_equal "status of $2" 200 "$(sed -n 1p get.answer)"
}

# status_of PATH [OPTIONS...]: prints the status of an answer.
status_of() {
    status_path=$1
    shift
    python3 "$ask" "$url$status_path" "$@" | sed -n 1p
}

# serve_guest OPTIONS [WHAT...]: starts test/e2e/victims/web_guest.c, or $guest, which works until end_guest, with a server
# on a free port, or at $guest_address. $server is its process, $url "http://127.0.0.1:PORT/debug/pprof". "echo >&9" is the
# byte that it waits for.
serve_guest() {
    serve_options=$1
    shift
    rm -f guest.in server.err
    mkfifo guest.in
    env LIBPPROF="http=${guest_address-127.0.0.1:0}${serve_options:+,$serve_options}" LD_PRELOAD="$library" \
        "$victims/${guest-web_guest}" "$@" <guest.in >server.out 2>server.err &
    server=$!
    started="$started $server"
    exec 9>guest.in
    if [ -z "${guest_address+set}" ]; then
        wait_until has_text server.err "/debug/pprof/"
        url=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' server.err)
    fi
}

# end_guest: lets it end, which it does with the status 7 of its main().
end_guest() {
    ends_with "${1:-7}" "$server"
}
