#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_http_server.sh: the server of libpprof-http: what it refuses, whom it answers, and what it makes of clients that are
# many, silent, hasty or hostile. unix sockets, IPv6, tokens.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3

serve_guest heap:1 steady
port=${url#http://127.0.0.1:}
python3 -B "$SRC/test/e2e/http/server.py" "${port%%/*}" "$server" 9>&- >server.failures || fail "$(cat server.failures)"
end_guest

# A unix socket: nobody else may connect, whatever the umask; one that is left is replaced, one that is served is not.
(
    umask 0
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/left.sock"
)
umask 0
guest_address=unix:$work/left.sock
serve_guest ''
answers_here() { python3 "$ask" "unix:$work/left.sock:/debug/pprof/cmdline" >here 2>&1; }
wait_until answers_here
expect_equal "mode of the socket" 600 "$(stat -c %a "$work/left.sock")"
expect_equal "status by the unix socket, whatever the host" 200 \
    "$(python3 "$ask" "unix:$work/left.sock:/debug/pprof/heap" -H "Host: anything" | sed -n 1p)"
first=$server
preload "http=$guest_address" "$victims/ends" exit >second.out 2>second.err || true
expect_contains "a second server at the same path" second.err " in use"
expect_equal "the first one answers still" 200 "$(python3 "$ask" "unix:$work/left.sock:/debug/pprof/heap" | sed -n 1p)"
server=$first
end_guest
umask 022

# A file that is no socket stays.
echo precious >file
guest_address=unix:$work/file
serve_guest ''
end_guest
expect_equal "a file in the socket's place" precious "$(cat file)"
unset guest_address

# IPv6, where the machine has it.
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
    guest_address='[::1]:0'
    serve_guest ''
    wait_until has_text server.err /debug/pprof/
    url6=$(sed -n 's|^libpprof: \(http://.*/debug/pprof\)/$|\1|p' server.err)
    expect_equal "status by IPv6" 200 "$(python3 "$ask" "$url6/heap" | sed -n 1p)"
    end_guest
    unset guest_address
fi

# An address for others is named on the log, and takes any host; the port is that of a server which has just ended.
guest_address=0.0.0.0:0
serve_guest ''
wait_until has_text server.err "is not loopback"
other=$(sed -n 's|^libpprof: http://0.0.0.0:\([0-9]*\)/.*|\1|p' server.err)
expect_equal "status for another host" 200 \
    "$(python3 "$ask" "http://127.0.0.1:$other/debug/pprof/heap" -H "Host: example.com" | sed -n 1p)"
end_guest
guest_address=127.0.0.1:$other
serve_guest ''
answers() { python3 "$ask" "http://127.0.0.1:$other/debug/pprof/cmdline" >again 2>&1; }
wait_until answers
expect_equal "messages of a server at a port that was named" "" "$(cat server.err)"
end_guest
unset guest_address

# A token.
printf 'correct-horse-battery\nnot this\n' >token
serve_guest "http-token=$work/token"
expect_equal "status without a token" 401 "$(status_of /heap)"
for wrong in 'Bearer correct-horse-batterx' 'Bearer correct-horse-batter' 'Bearer correct-horse-battery1' 'Bearer ' \
    'Basic correct-horse-battery' 'correct-horse-battery' 'Bearer not this'; do
    expect_equal "status with \"$wrong\"" 401 "$(status_of /heap -H "Authorization: $wrong")"
done
expect_equal "status with the token" 200 "$(status_of /heap -H 'Authorization: Bearer correct-horse-battery')"
expect_equal "status with the token, for any host" 200 \
    "$(status_of /heap -H 'Authorization: bearer correct-horse-battery' -H 'Host: example.com')"
# Every verb of cpprof that takes a URL, where libcurl is installed.
if python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>/dev/null; then
    cpprof=$BUILD/bin/cpprof
    export no_proxy='*'
    expect_equal "status of cpprof without a token" 1 "$(status "$cpprof" top "$url/heap" 2>err)"
    expect_contains "cpprof without a token" err "found 401: a token is needed: Authorization: Bearer ...; --token-file names a file"
    printf 'another-horse-battery\n' >wrong.token
    expect_equal "status of cpprof with a wrong token" 1 "$(status "$cpprof" top --token-file=wrong.token "$url/heap" 2>err)"
    printf 'two words\n' >bad.token
    expect_equal "status of cpprof with two words" 1 "$(status "$cpprof" top --token-file bad.token "$url/heap" 2>err)"
    expect_contains "two words" err "bad.token: expected a token without blanks in the first line"
    expect_equal "status of cpprof without the file" 1 "$(status "$cpprof" top --token-file no.token "$url/heap" 2>err)"
    expect_contains "no file" err "no.token: cannot read the token: No such file or directory"
    for verb in raw "merge -o merged.pb.gz" "flame -o heap.html" "symbolize -o names.pb.gz" "convert -o heap.folded"; do
        # shellcheck disable=SC2086 # words
        "$cpprof" $verb --token-file token "$url/heap" >out 2>err || fail "cpprof $verb: $(cat err)"
        # shellcheck disable=SC2086
        CPPROF_TOKEN_FILE=token "$cpprof" $verb "$url/heap" >out 2>err || fail "CPPROF_TOKEN_FILE, cpprof $verb: $(cat err)"
        # shellcheck disable=SC2086
        CPPROF_TOKEN_FILE=no.token "$cpprof" $verb --token-file token "$url/heap" >out 2>err ||
            fail "the option does not come before the variable, cpprof $verb: $(cat err)"
    done
fi
end_guest
printf 'short\n' >token
guest_address=127.0.0.1:0
serve_guest "http-token=$work/token"
end_guest
expect_contains "a short token" server.err "no server at 127.0.0.1:0: Invalid argument"
expect_contains "a short token" server.err "$work/token: expected a token of 16 to 255 characters in the first line"
echo ok
