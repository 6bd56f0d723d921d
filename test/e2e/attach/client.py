# SPDX-License-Identifier: MIT
#
# client.py redis|nginx|postgres|echo ADDRESS: asks a server over one connection after the other, or over one that stays, until
# standard input ends. Prints how many requests there were, how many went wrong, and how long they took, in milliseconds:
#
#   requests 12345 wrong 0 median 0.05 p99 0.2 worst 3.1
import select
import socket
import struct
import sys
import time


def connect(address):
    if "/" in address:
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
    else:
        host, port = address.rsplit(":", 1)
        client = socket.create_connection((host, int(port)))
    client.settimeout(20)
    return client


def receive(client, size):
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


class Redis:
    def __init__(self, address):
        self.client = connect(address)
        self.number = 0

    def ask(self):
        self.number += 1
        text = b"%08d" % self.number
        self.client.sendall(b"*2\r\n$4\r\nECHO\r\n$8\r\n" + text + b"\r\n")
        return receive(self.client, 14) == b"$8\r\n" + text + b"\r\n"


class Echo(Redis):
    def ask(self):
        self.number += 1
        text = b"%08d" % self.number
        self.client.sendall(text)
        return receive(self.client, 8) == text


class Nginx:
    def __init__(self, address):
        self.address = address

    def ask(self):
        client = connect(self.address)
        client.sendall(b"GET /page HTTP/1.0\r\n\r\n")
        with client.makefile("rb") as answer:
            return answer.read().split(b"\n")[-2] == b"the page"


class Postgres:
    def __init__(self, address):
        self.client = connect(address)
        words = b"user\0postgres\0database\0postgres\0\0"
        self.client.sendall(struct.pack(">II", len(words) + 8, 196608) + words)
        self.rest()

    def rest(self):
        row = None
        while True:
            kind, size = struct.unpack(">cI", receive(self.client, 5))
            body = receive(self.client, size - 4)
            if kind == b"D":
                row = body[6:]
            if kind == b"K":
                self.pid = struct.unpack(">I", body[:4])[0]
                print("backend", self.pid, flush=True)
            if kind == b"E":
                raise ConnectionError(body)
            if kind == b"Z":
                return row

    def ask(self):
        words = b"select sum(i) from generate_series(1, 1000) i\0"
        self.client.sendall(b"Q" + struct.pack(">I", len(words) + 4) + words)
        return self.rest() == b"500500"


server = {"redis": Redis, "echo": Echo, "nginx": Nginx, "postgres": Postgres}[sys.argv[1]](sys.argv[2])
print("ready", flush=True)
wrong, times = 0, []
while not select.select([sys.stdin], [], [], 0)[0]:
    begin = time.monotonic()
    try:
        wrong += not server.ask()
    except OSError as error:
        print("failed:", error)
        wrong += 1
        break
    times.append((time.monotonic() - begin) * 1000)
times.sort()
print(
    "requests %d wrong %d median %.3f p99 %.2f worst %.1f"
    % (len(times), wrong, times[len(times) // 2], times[len(times) * 99 // 100], times[-1])
)
