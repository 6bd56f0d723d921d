#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_sources.sh: cpprof reads profiles from servers, over TCP and over a socket of the machine, as from a file, and says
# what a server answered instead.
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export no_proxy='*'

command -v python3 >/dev/null || {
    echo "skipped: there is no python3 to serve with"
    exit 77
}
python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>/dev/null || {
    echo "skipped: libcurl is not installed"
    exit 77
}

# Serves the CPU profile at two paths, on a port of TCP and on a socket, and writes the port to a pipe when it is ready.
cat >serve.py <<'END'
import http.server, socketserver, sys, threading
profile = open(sys.argv[1], "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def address_string(self):
        return "-"
    def log_message(self, *words):
        pass
    def do_GET(self):
        if self.path == "/away":  # the same server under another name, as another one would be
            self.send_response(302)
            self.send_header("Location", "http://localhost:%d/elsewhere" % self.server.server_address[1])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        known = self.path.startswith("/debug/pprof/profile") or self.path == "/other"
        if self.path == "/elsewhere":
            known = "Authorization" not in self.headers
        body = profile if known else b"Unknown profile\n"
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
tcp = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
unix = Unix("socket", Handler)
threading.Thread(target=unix.serve_forever, daemon=True).start()
with open("ready", "w") as ready:
    ready.write("%d\n" % tcp.server_address[1])
tcp.serve_forever()
END
mkfifo ready
python3 serve.py "$go/cpu.pb.gz" 2>server.log &
server=$!
read -r port <ready || {
    fail "the server did not start: $(cat server.log)"
    exit 1
}

"$cpprof" top "$go/cpu.pb.gz" >from_file
for source in "http://127.0.0.1:$port" "http://127.0.0.1:$port/" "http://127.0.0.1:$port/debug/pprof/profile?seconds=1" \
    "http://127.0.0.1:$port/other" "unix:$work/socket" "unix:$work/socket:/other"; do
    "$cpprof" top "$source" >out 2>err || fail "top $source: $(cat err)"
    cmp -s out from_file || fail "top $source: differs from the file's"
done
echo correct-horse-battery >token
"$cpprof" top --token-file token "http://127.0.0.1:$port/away" >out 2>err || fail "another host gets the token: $(cat err)"
cmp -s out from_file || fail "top after a redirection: differs from the file's"
"$cpprof" top "http://127.0.0.1:$port" "$go/cpu.pb.gz" >out 2>err || fail "a server and a file: $(cat err)"
grep -q "of 1660ms total" out || fail "a server and a file: $(cat out)"

# refuse_url TEXT SOURCE
refuse_url() { refuse 1 "$2: $1" top "$2"; }

refuse_url "expected the answer 200, found 404: Unknown profile" "http://127.0.0.1:$port/nothing"
refuse_url "nobody listens on the socket $work/absent" "unix:$work/absent"
refuse_url "cannot fetch: " "http://127.0.0.1:1/"

finish_tests
