#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clients.py SOCKET PID: what the control socket makes of clients that are hostile, many or slow. Prints nothing if all is well.

PID is the process: after all this it answers, and has no more descriptors than before.
"""
import os
import random
import socket
import sys
import time

PATH, PID = sys.argv[1], int(sys.argv[2])
failures = []


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(PATH)
    return client


def receive(client):
    data = b""
    try:
        while piece := client.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def ask(line):
    with connect() as client:
        try:
            client.sendall(line)
        except BrokenPipeError:
            pass
        return receive(client)


def expect(what, expected, found):
    if expected != found:
        failures.append("%s: expected %r, found %r" % (what, expected, found))


def get(target):
    return b"GET " + target + b" HTTP/1.0\r\n\r\n"


STATUS = get(b"/control/status")


def status_of(answer):
    return answer.split(b" ")[1] if answer.startswith(b"HTTP/1.1 ") else answer[:60]


def expect_status(what, expected, request):
    expect(what, expected, status_of(ask(request)))


def descriptors():
    return len(os.listdir("/proc/%d/fd" % PID))


def has_descriptors(count):
    for _ in range(1200):
        if descriptors() <= count:
            return True
        time.sleep(0.05)
    return False


expect_status("a request", b"200", STATUS)
before = descriptors()

# What changes the process is posted, and nothing else than these paths.
expect_status("configure by GET", b"405", get(b"/control/configure"))
expect_status("hold by GET", b"405", get(b"/control/hold"))
expect_status("status by POST", b"405", STATUS.replace(b"GET", b"POST"))
expect_status("a part of a method", b"405", STATUS.replace(b"GET", b"G"))
expect_status("a page of another site", b"403",
              b"POST /control/detach HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com\r\n\r\n")
expect_status("another verb", b"404", get(b"/control/statuses"))
expect_status("no verb", b"404", get(b"/control/"))
expect_status("a path that goes up", b"404", get(b"/control/../../etc/passwd"))
expect_status("options with a NUL", b"400", b"POST /control/configure HTTP/1.0\r\nContent-Length: 7\r\n\r\nheap:1\0")

# Whole, but no request.
expect_status("the protocol of older versions", b"400", b"status\n\r\n\r\n")
expect_status("a control character", b"400", get(b"/control/status\x1b[2J"))
expect_status("a NUL", b"400", get(b"/control/sta\0tus"))
expect_status("a target that is too long", b"414", get(b"/" + b"x" * 8192))
expect_status("a head that is too long", b"431", b"x" * 1000000)
expect_status("the longest target", b"404", get(b"/" + b"x" * 8191))
expect_status("bytes above 127", b"404", get(b"/\xff\xfe"))
client = connect()
client.sendall(STATUS[:10])
client.shutdown(socket.SHUT_WR)
expect("half a request", b"", receive(client))

# Any bytes, of which the program may not notice anything.
chance = random.Random(1)
for _ in range(300):
    answer = ask(chance.randbytes(chance.randrange(1, 200)) + b"\r\n\r\n")
    if status_of(answer) not in (b"400", b"404", b"505"):
        failures.append("garbage: found %r" % answer[:60])

# One byte at a time, and more than one request: an old client gets one answer.
client = connect()
for byte in STATUS:
    client.sendall(bytes([byte]))
expect("a byte at a time", b"200", status_of(receive(client)))
expect("two requests", 1, ask(STATUS + STATUS).count(b"HTTP/1.1 200"))

# Clients that hang up while something is collected for them end that; one that takes nothing holds nobody up.
for _ in range(10):
    client = connect()
    client.sendall(get(b"/debug/pprof/profile?seconds=1000"))
    client.close()
takes_nothing = [connect() for _ in range(10)]
for client in takes_nothing:
    client.sendall(get(b"/debug/pprof/thread?debug=2"))
expect_status("beside clients that take nothing", b"200", STATUS)

# A thousand that say nothing, or half a request: one that asks is answered all the same.
silent = []
for i in range(1000):
    client = connect()
    if i % 2:
        client.sendall(STATUS[:10])
    silent.append(client)
    if i % 250 == 0:
        expect_status("beside %d silent clients" % i, b"200", STATUS)
expect_status("beside a thousand silent clients", b"200", STATUS)
for client in silent + takes_nothing:
    client.close()

expect("descriptors at the end", True, has_descriptors(before))
expect_status("after all this", b"200", STATUS)
print("\n".join(failures), end="")
sys.exit(bool(failures))
