#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py HOW: a process with a control socket at the usual place, which answers as HOW says.

  silent     nothing, ever          garbage    bytes that are no HTTP        head       a head that does not end
  endless    a body that does not   short      a body that is not whole      pieces     Transfer-Encoding
  html       a page with a script, for each profile; its status is good
  huge       a status that is good, and 100 GiB for each profile
"""
import os
import socket
import sys
import threading

how = sys.argv[1]
path = "%s/pprof/%d.sock" % (os.environ["XDG_RUNTIME_DIR"], os.getpid())
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)
STATUS = b"version 0\npid %d\nloaded 1\non cpu heap:1\n" % os.getpid()


def head(length, kind=b"text/plain"):
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, length)


def pour(client, data):
    while True:
        client.sendall(data)


def answer(client):
    request = client.recv(65536)
    is_status = request.startswith(b"GET /control/")
    if how == "silent":
        client.recv(1)
    elif how == "garbage":
        client.sendall(os.urandom(4096))
    elif how == "head":
        pour(client, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 60000)
    elif how == "pieces":
        client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    elif is_status and how != "short":
        client.sendall(head(len(STATUS)) + STATUS)
    elif how == "short":
        client.sendall(head(1000) + b"too little")
    elif how == "html":
        page = b"<script>alert(1)</script><a href='./<script>?debug=1'><a href='./heap?debug=1'>"
        client.sendall(head(len(page), b"text/html") + page)
    elif how == "endless":
        pour(client, head(10 ** 14) + b"x" * 65536)
    elif how == "huge":
        pour(client, head(100 << 30) + b"x" * 65536)


def serve(client):
    try:
        answer(client)
    except OSError:
        pass
    client.close()


while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
