#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_fleet_receiver.sh: the strict receiver takes what is right and refuses what is wrong, and misbehaves where it is told to.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
need python3 openssl

preload cpu:1000,file="$work/cpu.pb.gz" "$victims/shares" >shares.log

cases() { # BACKEND [CASES]
    python3 "$fleet/cases.py" "${2:-$1}" "$url" cpu.pb.gz >"cases.$1" || fail "$1: $(cat "cases.$1")"
}
for backend in pyroscope parca otlp; do
    receive "$backend" "$backend"
    cases "$backend"
done

# What is stored is what was sent: line 1 is the first profile, and 1.pb its bytes.
go_totals() {
    raw "$1"
    awk '/^Samples:/ { on = 2; next } /^Locations/ { on = 0 } on == 2 { on = 1; next }
        on && /^ *[0-9]/ { sub(/:.*/, ""); one += $1; two += $2 } END { printf "[%.0f, %.0f]\n", one, two }' "$1.raw"
}
if command -v go >/dev/null; then
    expect_equal "totals of the stored profile" "$(go_totals cpu.pb.gz)" "$(go_totals pyroscope/1.pb)"
    expect_equal "totals of line 1" "$(go_totals cpu.pb.gz)" "$(sed -n '1s/.*"totals": \(\[[^]]*\]\).*/\1/p' pyroscope/received.jsonl)"
fi
has_text pyroscope/received.jsonl '"functions": [["' || fail "no functions: $(head -n 1 pyroscope/received.jsonl)"

receive pyroscope answers
cases pyroscope answers
# The profile that came before the connection was closed "after", the slow one and the last one.
expect_equal "profiles taken" 3 "$(grep -c '"totals"' answers/received.jsonl)"

# A token, and a tenant.
ask_with() { # STATUS HEADER...
    wanted=$1
    shift
    expect_equal "status with $*" "$wanted" "$(python3 -c '
import sys, urllib.error, urllib.request
headers = dict(one.split(": ") for one in sys.argv[2:])
request = urllib.request.Request(sys.argv[1], b"{\"series\": []}", dict(headers, **{"Content-Type": "application/json"}))
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)' "$url/push.v1.PusherService/Push" "$@")"
}
receive pyroscope closed --token secret --tenant shop
ask_with 401 "X-Scope-OrgID: shop"
ask_with 401 "X-Scope-OrgID: shop" "Authorization: Bearer wrong"
ask_with 401 "X-Scope-OrgID: other" "Authorization: Bearer secret"
ask_with 400 "X-Scope-OrgID: shop" "Authorization: Bearer secret"
! grep -q secret closed/received.jsonl || fail "the token is in the store"

# TLS: a certificate for this host, and one for another host.
handshake() {
    python3 -c '
import socket, ssl, sys
host, port = sys.argv[2].removeprefix("https://").split(":")
try:
    context = ssl.create_default_context(cafile=sys.argv[1])
    context.wrap_socket(socket.create_connection((host, int(port)), 20), server_hostname=host).close()
    print("trusted")
except ssl.SSLCertVerificationError as why:
    print(why.verify_message)' "$1" "$url"
}
certificate right IP:127.0.0.1
certificate wrong DNS:elsewhere.example
receive pyroscope tls --tls "$work/right.pem" "$work/right.key"
expect_equal "the right certificate" trusted "$(handshake right.pem)"
receive pyroscope tls_wrong --tls "$work/wrong.pem" "$work/wrong.key"
case $(handshake wrong.pem) in
*"not valid for"*) ;;
*) fail "the certificate of another host: $(handshake wrong.pem)" ;;
esac
