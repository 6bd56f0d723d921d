#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slow.py PORT PID never|busy|deep...: clients of the server in PID that take their answers slowly, or not at all. Prints
nothing if all is well: others are answered, and no descriptor and no memory stays.

never               a client that takes nothing
busy                as many clients as there are places, each with many requests
deep THREADS DEPTH  the program is test/e2e/victims/deep_threads.c: the text of its threads is larger than what the server
                    keeps in memory of answers
"""
import re
import socket
import sys
import threading
import time

from client import connect, expect, files, finish, memory, read_one, request, status, wait_for

PLACES = 64
PAGE = "flame?profile=heap"  # 100 KiB and more


def expect_answer(when):
    """Another client, with a request of its own."""
    with connect() as client:
        client.sendall(request("cmdline"))
        try:
            answer, _ = read_one(client)
        except OSError as error:
            answer = str(error).encode()
        expect("status " + when, "200", status(answer))


class Reader(threading.Thread):
    """Reads of a client what `take` reads, until `stop` or the server closes."""

    def __init__(self, client, take):
        super().__init__(daemon=True)
        self.client = client
        self.take = take
        self.stops = False
        self.start()

    def run(self):
        try:
            while not self.stops and self.take(self.client):
                pass
        except OSError:
            pass

    def stop(self):
        self.stops = True
        try:
            self.client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join()
        self.client.close()


def take_little(client):
    time.sleep(0.01)
    return client.recv(4096)


def take_and_ask(client):
    """For each answer that has come another request."""
    data = client.recv(65536)
    client.sendall(request("cmdline") * data.count(b"HTTP/1.1 200 OK\r\n"))
    return data


def never():
    before = files()
    client = connect(4096)
    client.sendall(request(PAGE) * 300)
    wait_for("a client", lambda: files() > before)
    expect_answer("beside a client that takes nothing")
    wait_for("the end of a client that takes nothing", lambda: files() <= before)
    client.close()


def busy():
    before = files()
    readers = []
    for _ in range(PLACES):
        client = connect()
        client.sendall(request("cmdline") * 100)
        readers.append(Reader(client, take_and_ask))
    wait_for("clients at all places", lambda: len(files() - before) >= PLACES)
    expect_answer("after %d clients that have many requests" % PLACES)
    for reader in readers:
        reader.stop()
    wait_for("the end of the clients", lambda: files() <= before)


def deep():
    threads, depth = int(sys.argv[4]), int(sys.argv[5])
    before, first_memory = files(), memory("VmRSS")
    client = connect()
    client.sendall(request("thread?debug=2"))
    text = read_one(client)[0].partition(b"\r\n\r\n")[2]
    client.close()
    length = len(text)
    expect("a text of more than 64 MiB", True, length > 64 << 20)
    expect("threads in it", threads + 1, len(re.findall(rb"^thread \d+ ", text, re.M)))
    expect("frames in it", threads * depth, text.count(b"\na_function_that_calls_itself_very_often("))
    expect("its end", True, text.endswith(b"\n\n") or text.endswith(b"\n"))
    most = memory("VmHWM") - first_memory
    expect("memory for it: %d MiB of %d" % (most >> 20, length >> 20), True, most < length + (64 << 20))
    # One such client keeps nobody waiting. With a second one there is no memory, until the first has been slow for too long.
    readers = [Reader(connect(4096), take_little)]
    readers[0].client.sendall(request("thread?debug=2"))
    readers[0].client.recv(1, socket.MSG_PEEK)
    first = files() - before
    expect_answer("beside a slow client of a long answer")
    expect("the slow client is still there", True, first <= files())
    readers.append(Reader(connect(4096), take_little))
    readers[1].client.sendall(request("thread?debug=2"))
    expect_answer("beside two slow clients of long answers")
    for reader in readers:
        reader.stop()
    wait_for("the end of slow clients", lambda: files() <= before)
    wait_for("the memory of long answers", lambda: memory("VmRSS") < first_memory + (32 << 20))


{"never": never, "busy": busy, "deep": deep}[sys.argv[3]]()
expect_answer("at the end")
finish()
