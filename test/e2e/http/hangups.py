#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hangups.py PORT PID [guest]: clients that hang up in each kind of request: before the answer, in the middle of it, while a profile
is collected for them. Prints nothing if all is well: what was collected has ended, rates are as before, the next client gets
a right answer, and no descriptor and no memory stays. The program is one whose memory does not grow by itself; with `guest`
it is test/e2e/victims/web_guest.c.
"""
import gzip
import re
import sys

from client import PID, connect, expect, failures, files, finish, hang_up, memory, receive, request, wait_for

ROUNDS = 12

# What collects until its time is over; the same for one second.
COLLECTIONS = ("profile?seconds=%d", "profile?seconds=%d&hz=1000", "heap?seconds=%d", "heap?seconds=%d&rate=1",
               "allocs?seconds=%d&rate=4096", "block?seconds=%d", "block?seconds=%d&rate=1", "mutex?seconds=%d&rate=1",
               "thread?seconds=%d", "goroutine?seconds=%d", "threadcreate?seconds=%d", "fd?seconds=%d")
# What is answered at once.
OTHERS = ("heap", "heap?debug=1", "heap?gc=1", "allocs", "block?debug=1", "mutex", "thread", "thread?debug=1", "thread?debug=2",
          "threadcreate", "fd", "fd?debug=1", "example.com/custom", "example.com/custom?debug=1", "delta_heap", "delta_allocs",
          "delta_block", "delta_mutex", "profile?now=1", "flame?profile=heap", "deadlock", "symbol?0x1", "cmdline", "trace", "")
# What a right answer has of test/e2e/victims/web_guest.c.
NAMES = {"profile?seconds=1&hz=1000": b"burn_cpu", "block?seconds=1&rate=1": b"hold_lock", "mutex?seconds=1&rate=1": b"hold_lock",
         "heap?seconds=1&rate=1": b"drop_memory", "heap": b"keep_memory", "thread": b"contender", "thread?debug=2": b"burner",
         "cmdline": b"web_guest"}


def ask(path):
    """Status and body of an answer."""
    with connect() as client:
        client.sendall(request(path).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        head, _, body = receive(client).partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    return head[9:12].decode(), body if length and int(length.group(1)) == len(body) else None


def timers():
    with open("/proc/%d/timers" % PID) as file:
        return file.read().count("ID:")


def rates():
    """What the list of profiles says of each one: whether it records, and at what rate."""
    return re.findall(rb"<tr><td>.*</td><td>(.*?)</td></tr>", ask("")[1])


def leave_collections(before):
    """All kinds at a time; each client sees that the server has begun with its request, which answers others after that."""
    clients = []
    for path in COLLECTIONS:
        clients.append(connect())
        clients[-1].sendall(request(path % 600))
        expect("status beside it", "200", ask("cmdline")[0])
    for number, client in enumerate(clients):
        hang_up(client, number % 2)
    wait_for("the end of what was collected", lambda: files() <= before and timers() == 0)


def leave_answers(before):
    """Before the answer comes; after its first bytes; with a half request behind it; with half a body."""
    for number, path in enumerate(OTHERS):
        for way in range(4):
            client = connect()
            client.sendall(request(path) + (b"GET /debug" if way == 2 else b""))
            if way == 1:
                client.recv(20)
            hang_up(client, (number + way) % 2)
    client = connect()
    client.sendall(request("symbol").replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n0x1"))
    hang_up(client, False)
    wait_for("the end of the connections", lambda: files() <= before)


def answers():
    """The status of each answer, which is whole; and whether it has the function that it should have."""
    found = {}
    for path in [path % 1 for path in COLLECTIONS] + list(OTHERS):
        status, body = ask(path)
        if body is None:
            failures.append("the answer to %s is not whole" % path)
            continue
        body = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        found[path] = (status, NAMES[path] in body if path in NAMES else None)
    return found


def main():
    before, rates_before = files(), rates()
    for _ in range(3):  # what is made once
        leave_collections(before)
        leave_answers(before)
    first_answers, first_memory = answers(), memory("VmSize")
    for _ in range(ROUNDS):
        leave_collections(before)
        leave_answers(before)
    expect("rates", rates_before, rates())
    last_answers = answers()
    expect("rates at the end", rates_before, rates())
    for path, first in first_answers.items():
        expect("answer to " + path, first, last_answers.get(path))
        if path in NAMES and len(sys.argv) > 3:
            expect("function in " + path, True, first[1])
    wait_for("the end of all connections", lambda: files() <= before)
    grown = memory("VmSize") - first_memory
    if grown > 1 << 20:
        failures.append("%d bytes more are mapped" % grown)
    finish()


main()
