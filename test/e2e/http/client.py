# SPDX-License-Identifier: MIT
"""client.py: what the clients of this folder share: the program that includes it has the server's PORT and PID as its first
words, collects `failures`, and ends with finish().
"""
import glob
import os
import re
import socket
import sys
import time

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
PATIENCE = 150  # seconds, for what comes sooner
failures = []


def request(path):
    return b"GET /debug/pprof/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode()


def connect(buffer=0):
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", PORT))
    return client


def hang_up(client, with_reset=True):
    if with_reset:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    client.close()


def receive(client):
    """Everything until the server closes."""
    data = b""
    try:
        while True:
            piece = client.recv(65536)
            if not piece:
                return data
            data += piece
    except ConnectionResetError:
        return data


def read_one(client, rest=b""):
    """One answer, of which some has come, and what came after it."""
    while b"\r\n\r\n" not in rest:
        piece = client.recv(65536)
        if not piece:
            return rest, b""
        rest += piece
    head, _, rest = rest.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    size = int(length.group(1)) if length else 0
    pieces, left = [rest], size - len(rest)
    while left > 0 and pieces[-1]:
        pieces.append(client.recv(1 << 20))
        left -= len(pieces[-1])
    rest = b"".join(pieces)
    return head + b"\r\n\r\n" + rest[:size], rest[size:]


def status(data):
    return data.split(b" ")[1].decode() if data.startswith(b"HTTP/1.1 ") else repr(data[:60])


def expect(what, expected, found):
    if expected != found:
        failures.append("%s: expected %r, found %r" % (what, expected, found))


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            failures.append("waited in vain for: " + what)
            return
        time.sleep(0.02)


def files():
    """What the descriptors of the process are."""
    found = set()
    for path in glob.glob("/proc/%d/task/*/fd/*" % PID):
        try:
            found.add(os.readlink(path))
        except FileNotFoundError:
            pass
    return found


def memory(what):
    """VmSize, where what is mapped and forgotten stays; VmRSS; VmHWM."""
    with open("/proc/%d/status" % PID) as file:
        return int(re.search(what + r":\s*(\d+) kB", file.read()).group(1)) << 10


def finish():
    """Prints nothing if all is well."""
    for failure in failures[:20]:
        print(failure)
    sys.exit(1 if failures else 0)
