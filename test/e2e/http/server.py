#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""server.py PORT PID: what the server makes of requests as no well-behaved client writes them. Prints nothing if all is well.

PID is the server's process: after all this it answers, and has no more descriptors and memory than before.
"""
import glob
import os
import signal
import socket

from client import PID, PORT, connect, expect, failures, finish, hang_up, memory, read_one, receive, request, status, wait_for

OK = request("cmdline")


def refused(what, expected, data):
    """The server answers with this status, and closes."""
    client = connect()
    client.sendall(data)
    answer = receive(client)
    client.close()
    expect("status of " + what, expected, status(answer))
    expect("headers of " + what, True, b"X-Go-Pprof: 1\r\n" in answer and b"Connection: close\r\n" in answer)


def malformed():
    head = b"GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n"
    for what, data in {
        "no version": b"GET /debug/pprof/\r\n\r\n",
        "nothing": b"\r\n\r\n",
        "binary": bytes(range(256)) + b"\r\n\r\n",
        "no host": b"GET /debug/pprof/ HTTP/1.1\r\n\r\n",
        "two hosts": head + b"Host: localhost\r\n\r\n",
        "a folded header": head + b"X: a\r\n b\r\n\r\n",
        "a space before the colon": head + b"X : a\r\n\r\n",
        "no colon": head + b"nonsense\r\n\r\n",
        "a NUL in a header": head + b"X: a\0b\r\n\r\n",
        "a bare line feed": head + b"X: a\nY: b\r\n\r\n",
        "a bare carriage return": head + b"X: a\rY: b\r\n\r\n",
        "no length": head + b"Content-Length: x\r\n\r\n",
        "a negative length": head + b"Content-Length: -1\r\n\r\n",
        "two lengths": head + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "no path": b"GET debug HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a tunnel": b"CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    }.items():
        refused(what, "400", data)
    refused("a chunked body", "501", head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    refused("HTTP/2", "505", b"PRI * HTTP/2.0\r\n\r\n".replace(b"*", b"/"))
    refused("a large body", "413", head + b"Content-Length: 99999999999999999999\r\n\r\n")
    refused("a query of a megabyte", "431", b"GET /debug/pprof/heap?" + b"x" * (1 << 20) + b" HTTP/1.1\r\nHost: a\r\n\r\n")
    refused("a query of 9000 bytes", "414", b"GET /debug/pprof/heap?" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
    refused("a header of a megabyte", "431", head + b"X: " + b"x" * (1 << 20) + b"\r\n\r\n")


def hosts():
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.8.9.1:80", "[::1]", "[::1]:6060", "127.0.0.1:%d" % PORT):
        client = connect()
        client.sendall(OK.replace(b"Host: localhost", b"Host: " + host.encode()))
        expect("status for the host " + host, "200", status(read_one(client)[0]))
        client.close()
    for host in ("example.com", "127.0.0.1.example.com", "localhost.example.com", "example.com:127", "[::2]", "0.0.0.0",
                 "", "localhost@example.com", "127.0.0.1:80:80", "[::1", "unix:/x", "192.168.0.1"):
        refused("the host " + repr(host), "403", OK.replace(b"Host: localhost", b"Host: " + host.encode()))


def sites():
    """What a browser sends for a page of another site, by what it says of that page: None: nothing."""
    own = "http://127.0.0.1:%d" % PORT

    def of(path, headers, target=None):
        client = connect()
        lines = ["GET %s/debug/pprof/%s HTTP/1.1" % (target or "", path), "Host: 127.0.0.1:%d" % PORT]
        client.sendall("\r\n".join(lines + headers + ["Connection: close", "", ""]).encode())
        answer = receive(client)
        client.close()
        if status(answer) == "403" and target is None:
            expect("the reason", True, answer.endswith(b"a page of another site asks for this; if you want it, type the address\n"))
            expect("header of " + path, True, b"X-Go-Pprof: 1\r\n" in answer)
        return status(answer)

    collects = ("profile?seconds=1&hz=1000000", "heap?seconds=1", "block?seconds=1&rate=1", "delta_heap", "delta_mutex",
                "contention?seconds=1", "flame", "flame?profile=profile&seconds=1")
    reads = ("", "heap", "heap?debug=1", "thread?debug=2", "symbol?0x1", "cmdline", "deadlock")
    link, part = "Sec-Fetch-Dest: document", "Sec-Fetch-Dest: image"
    own_pages = ([], ["Sec-Fetch-Site: none", link], ["sec-fetch-site: same-origin"], ["Sec-Fetch-Site: same-origin", part],
                 ["Origin: " + own], ["Sec-Fetch-Site: same-origin", "Origin: https://proxy.example"])
    others = (["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site", link], ["Sec-Fetch-Site: whatever"],
              ["Origin: http://example.com"], ["Origin: null"], ["Origin: " + own + "0"], ["Origin: http://localhost:%d" % PORT],
              ["Sec-Fetch-Site: cross-site", "Origin: " + own])
    for headers in own_pages:
        for path in ("delta_heap", "flame?profile=heap", "thread?debug=2"):
            expect("status of %s with %r" % (path, headers), "200", of(path, headers))
    expect("status of a collection for an own page", "200", of(collects[0], own_pages[2]))
    for headers in others:
        for path in collects:
            expect("status of %s with %r" % (path, headers), "403", of(path, headers))
        for path in reads:
            expect("status of %s with %r" % (path, headers), "200", of(path, headers))
    for path in reads + collects:
        expect("status of %s as a part of another page" % path, "403", of(path, ["Sec-Fetch-Site: cross-site", part]))
    for target, expected in ((own, "200"), ("http://example.com", "403"), ("HTTP://localhost", "403"), ("http://a@127.0.0.1", "403")):
        expect("status of a target at " + target, expected, of("delta_heap", [], target))
    for target, expected in ((own, "200"), ("http://example.com", "403"), ("http://localhost", "200")):
        client = connect()
        client.sendall(OK.replace(b"GET /", b"GET " + target.encode() + b"/"))
        expect("status of a command line at " + target, expected, status(read_one(client)[0]))
        client.close()


def keep_alive():
    client = connect()
    rest = b""
    for _ in range(100):
        client.sendall(OK)
        answer, rest = read_one(client, rest)
        expect("status of one of a hundred requests", "200", status(answer))
    for byte in OK:
        client.sendall(bytes([byte]))
    expect("status of a request byte by byte", "200", status(read_one(client)[0]))
    client.sendall(b"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    expect("an interim answer", b"HTTP/1.1 100 Continue\r\n\r\n", client.recv(len(b"HTTP/1.1 100 Continue\r\n\r\n")))
    client.sendall(b"0x1" + OK.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n"))
    answer, rest = read_one(client)
    expect("status after it", "200", status(answer))
    expect("body after it", True, answer.endswith(b"num_symbols: 1\n"))
    expect("status of the one behind it", "200", status(rest + receive(client)))
    client = connect()
    client.sendall(b"GET /debug/pprof/cmdline HTTP/1.0\r\n\r\n")
    answer = receive(client)
    expect("status for HTTP/1.0", "200", status(answer))
    expect("an end after HTTP/1.0", True, b"Connection: close" in answer)


def pipelined():
    """Each of eight clients sends three hundred requests and a half in one piece, and says no more."""
    requests = [OK.replace(b"cmdline", b"symbol?0x%d" % number) for number in range(150)]
    together = b"".join(request + OK.replace(b"GET", b"HEAD") for request in requests) + OK[:20]
    clients = [connect() for _ in range(8)]
    for client in clients:
        client.sendall(together)
        client.shutdown(socket.SHUT_WR)
    for client in clients:
        answers = receive(client)
        expect("answers to 300 requests in one piece", 300, answers.count(b"HTTP/1.1 200 OK\r\n"))
        expect("bodies of them", 150, answers.count(b"num_symbols: 1\n"))
        client.close()
    # A request behind a collection is answered after that; another client does not wait for it.
    patient, other, client = connect(), connect(), connect()
    patient.sendall(OK.replace(b"cmdline", b"profile?seconds=600") + OK)
    other.sendall(OK)
    expect("status beside a collection", "200", status(read_one(other)[0]))
    client.sendall(OK.replace(b"cmdline", b"profile?seconds=1") + OK)
    profile, rest = read_one(client)
    expect("a profile before the next answer", True, b'filename="profile"' in profile)
    expect("status of the request behind it", "200", status(read_one(client, rest)[0]))
    for one in (patient, other, client):
        one.close()


def many():
    """A thousand clients that say nothing: the newest ones are served."""
    silent = []
    for _ in range(1000):
        try:
            silent.append(connect())
        except OSError:
            break
    client = connect()
    client.sendall(OK)
    expect("status beside %d silent clients" % len(silent), "200", status(read_one(client)[0]))
    for one in silent:
        one.close()
    client.close()


def hasty():
    """Clients that ask and do not wait for the answer, or only for a part of it."""
    for path in (b"heap", b"thread?debug=2", b"flame?profile=heap"):
        for _ in range(20):
            client = connect()
            client.sendall(OK.replace(b"cmdline", path))
            if path.startswith(b"flame"):
                client.recv(100)
            hang_up(client)


def together():
    """Two hundred requests for the heap at a time: all are answered."""
    request = OK.replace(b"cmdline", b"heap").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    clients = []
    answered = 0
    for _ in range(200):  # each asks at once: the server waits ten seconds for the request of a connection
        clients.append(connect())
        clients[-1].sendall(request)
    for client in clients:
        answered += status(receive(client)) == "200"
        client.close()
    expect("requests of 200 that were answered", 200, answered)


def at_once(path, count=8):
    """The bodies of the answers to requests that the server finds all at the same moment: it is stopped until they are there."""
    clients = [connect() for _ in range(count)]
    for client in clients:
        client.sendall(OK)
        read_one(client)
    os.kill(PID, signal.SIGSTOP)
    wait_for("a process that is stopped", lambda: open("/proc/%d/stat" % PID).read().rsplit(")", 1)[1].split()[0] == "T")
    for client in clients:
        client.sendall(OK.replace(b"cmdline", path))
    os.kill(PID, signal.SIGCONT)
    bodies = [read_one(client)[0].partition(b"\r\n\r\n")[2] for client in clients]
    for client in clients:
        client.close()
    return bodies


def twins():
    """Requests for the same that wait at the same time get the same profile, which has its time in it; deltas have none."""
    for path in (b"heap", b"thread", b"thread?debug=2"):
        bodies = at_once(path)
        expect("an empty answer for " + path.decode(), True, all(bodies))
        expect("different answers for " + path.decode(), 1, len(set(bodies)))
    expect("different answers for deltas", 8, len(set(at_once(b"delta_heap"))))


def descriptors():
    return len(glob.glob("/proc/%d/task/*/fd/*" % PID))


def main():
    before = descriptors()
    keep_alive()
    pipelined()
    first_memory = memory("VmRSS")
    malformed()
    hosts()
    sites()
    many()
    hasty()
    together()
    late = connect()
    late.sendall(OK[:20])
    twins()
    wait_for("as many descriptors as before: %d, there are %d" % (before, descriptors()), lambda: descriptors() <= before + 1)
    expect("status for half a request, when its time is over", "408", status(receive(late)))
    late.close()
    if memory("VmRSS") > first_memory + (32 << 20):
        failures.append("memory grew from %d to %d" % (first_memory, memory("VmRSS")))
    client = connect()
    client.sendall(OK)
    expect("status at the end", "200", status(read_one(client)[0]))
    finish()


main()
