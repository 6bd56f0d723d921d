#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_hostile.sh: processes that answer nonsense, without end or not at all harm neither cpprof agent nor the
# others; nothing that they say becomes a page with a script; clients that are slow or hang up keep nobody waiting.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"
need python3

ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$own/python3"
for how in silent garbage head pieces short html endless huge; do
    "$own/python3" "$SRC/test/e2e/agent/hostile.py" $how >/dev/null 2>hostile.err &
    echo $! >"$how.pid"
    started="$started $!"
done
pid_of() { cat "$1.pid"; }
start_guest good control,heap:1
exec 9>guests.in
wait_until test -S "$XDG_RUNTIME_DIR/pprof/$guest.sock"
for how in silent garbage head pieces short html endless huge; do
    wait_until test -S "$XDG_RUNTIME_DIR/pprof/$(pid_of $how).sock"
done

start_agent --listen 127.0.0.1:0
wait_until has_target "$guest"
for how in html endless huge; do
    wait_until has_target "$(pid_of $how)"
done
for how in silent garbage head pieces short; do
    has_no_target "$(pid_of $how)" || fail "a process that is $how is listed"
done

# ---- answers without end: the client is served as it reads, and its end is the end of it ----
python3 - "$url" "$(pid_of huge)" "$(pid_of endless)" <<'CHECK' || fail "answers without end"
import socket, sys
url, *pids = sys.argv[1:]
host, port = url[len("http://"):].split(":")
for pid in pids:
    for _ in range(8):
        client = socket.create_connection((host, int(port)))
        client.sendall(b"GET /%s/debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n\r\n" % pid.encode())
        assert client.recv(12) == b"HTTP/1.1 200", pid
        seen = 0
        while seen < 1 << 20:
            seen += len(client.recv(65536))
        client.close()
CHECK
get heap.pb.gz "/$guest/debug/pprof/heap"

# ---- what a process says becomes no page ----
python3 "$ask" "$url/$(pid_of html)/debug/pprof/heap" >page.txt
expect_contains "a script comes as text" page.txt "content-type: text/plain; charset=utf-8"
python3 "$ask" "$url/$(pid_of html)/debug/pprof/" >page.txt
expect_contains "the agent's list" page.txt "./flame?profile=heap"
! grep -q '<script' page.txt || fail "a script of a process is in the agent's page: $(cat page.txt)"
python3 "$ask" "$url/$guest/debug/pprof/" >page.txt
expect_contains "the list of a good process" page.txt "./heap?debug=1"
expect_contains "its timed profiles" page.txt "./flame?profile=profile&amp;seconds=10"
python3 "$ask" "$url/$guest/debug/pprof/flame?profile=heap" >flame.txt
expect_contains "the flame graph page" flame.txt "<html"
expect_equal "the page for another site" 403 \
    "$(status_of "/$guest/debug/pprof/flame?profile=heap" -H "Sec-Fetch-Site: cross-site")"
expect_equal "what collects for another site" 403 \
    "$(status_of "/$guest/debug/pprof/profile?seconds=1" -H "Sec-Fetch-Site: cross-site")"

# ---- clients that say nothing take no place from others; a client that hangs up ends its collection ----
python3 - "$url" "$guest" "$XDG_RUNTIME_DIR/pprof/$guest.sock" <<'CHECK' || fail "idle clients"
import socket, sys, time
url, pid, control = sys.argv[1:]
host, port = url[len("http://"):].split(":")
idle = [socket.create_connection((host, int(port))) for _ in range(300)]
client = socket.create_connection((host, int(port)))
client.sendall(b"GET /%s/debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n" % pid.encode())
assert client.recv(12) == b"HTTP/1.1 200"
client.close()


def sampler_runs():
    asks = socket.socket(socket.AF_UNIX)
    asks.connect(control)
    asks.sendall(b"GET /debug/pprof/profile?now=1 HTTP/1.0\r\n\r\n")
    return asks.recv(12) == b"HTTP/1.1 200"


client = socket.create_connection((host, int(port)))
client.sendall(b"GET /%s/debug/pprof/profile?seconds=600 HTTP/1.1\r\nHost: localhost\r\n\r\n" % pid.encode())
while not sampler_runs():
    time.sleep(0.05)
client.close()
while sampler_runs():
    time.sleep(0.05)
CHECK

peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$agent/status")
[ "$peak" -lt 65536 ] || fail "the agent has used $peak KiB"
end_agent
