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


def expect_status(what, expected, line):
    expect(what, expected, ask(line)[:4])


def descriptors():
    return len(os.listdir("/proc/%d/fd" % PID))


def has_descriptors(count):
    for _ in range(1200):
        if descriptors() <= count:
            return True
        time.sleep(0.05)
    return False


expect_status("a line", b"200 ", b"status\n")
expect_status("a line as of telnet", b"200 ", b"status\r\n")
before = descriptors()

# Whole, but no request.
expect_status("a control character", b"400 ", b"status\x1b[2J\n")
expect_status("a NUL", b"400 ", b"sta\0tus\n")
expect_status("a line that is too long", b"414 ", b"x" * 8192)
expect_status("a longer one", b"414 ", b"x" * 1000000)
expect_status("the longest line", b"404 ", b"x" * 8191 + b"\n")
expect_status("another verb", b"404 ", b"statuses\n")
expect_status("HTTP", b"404 ", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
expect_status("bytes above 127", b"404 ", b"\xff\xfe\n")
expect_status("a path that goes up", b"404 ", b"../../etc/passwd\n")
client = connect()
client.sendall(b"stat")
client.shutdown(socket.SHUT_WR)
expect("half a line", b"", receive(client))

# Any bytes, of which the program may not notice anything. No line of them says `configure`.
chance = random.Random(1)
for _ in range(300):
    answer = ask(chance.randbytes(chance.randrange(1, 200)) + b"\n")
    if answer[:3] not in (b"400", b"404", b"200"):
        failures.append("garbage: found %r" % answer[:60])

# One byte at a time, and more than one line: the first counts.
client = connect()
for byte in b"status\n":
    client.sendall(bytes([byte]))
expect("a byte at a time", b"200 ", receive(client)[:4])
expect_status("two lines", b"404 ", b"nothing\nstatus\n")

# Clients that hang up while something is collected for them end that; one that takes nothing holds nobody up.
for _ in range(10):
    client = connect()
    client.sendall(b"profile?seconds=1000\n")
    client.close()
takes_nothing = [connect() for _ in range(10)]
for client in takes_nothing:
    client.sendall(b"thread?debug=2\n")
expect_status("beside clients that take nothing", b"200 ", b"status\n")

# A thousand that say nothing, or half a line: one that asks is answered all the same.
silent = []
for i in range(1000):
    client = connect()
    if i % 2:
        client.sendall(b"stat")
    silent.append(client)
    if i % 250 == 0:
        expect_status("beside %d silent clients" % i, b"200 ", b"status\n")
expect_status("beside a thousand silent clients", b"200 ", b"status\n")
for client in silent + takes_nothing:
    client.close()

expect("descriptors at the end", True, has_descriptors(before))
expect_status("after all this", b"200 ", b"status\n")
print("\n".join(failures), end="")
sys.exit(bool(failures))
