#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# ask.py SOCKET WORDS [-o FILE]: asks a control socket, and prints the status of the answer, then its body, or writes the body
# to FILE. WORDS are `status`, `detach`, `stay`, `configure OPTIONS`, or a path after /debug/pprof/. Fails if the length that the
# answer names is not that of the body.
import argparse
import socket
import sys

VERBS = ("configure", "detach", "stay", "status")

parser = argparse.ArgumentParser()
parser.add_argument("socket")
parser.add_argument("words")
parser.add_argument("-o", dest="out")
options = parser.parse_args()

verb, _, body = options.words.partition(" ")
method = "POST" if verb in VERBS and verb != "status" else "GET"
target = "/control/" + verb if verb in VERBS else "/debug/pprof/" + options.words
client = socket.socket(socket.AF_UNIX)
client.connect(options.socket)
client.sendall(f"{method} {target} HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
answer = b""
while piece := client.recv(65536):
    answer += piece
head, body = answer.split(b"\r\n\r\n", 1)
first, *headers = head.decode().split("\r\n")
length = dict(header.split(": ") for header in headers)["Content-Length"]
if int(length) != len(body):
    sys.exit(f"{length} bytes were promised, {len(body)} came")
print(first.split()[1])
if options.out:
    with open(options.out, "wb") as file:
        file.write(body)
else:
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
