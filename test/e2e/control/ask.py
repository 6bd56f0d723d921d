#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# ask.py SOCKET LINE [-o FILE]: sends a line to a control socket, and prints the status of the answer, then its body, or
# writes the body to FILE. Fails if the length that the answer names is not that of the body.
import argparse
import socket
import sys

parser = argparse.ArgumentParser()
parser.add_argument("socket")
parser.add_argument("line")
parser.add_argument("-o", dest="out")
options = parser.parse_args()

client = socket.socket(socket.AF_UNIX)
client.connect(options.socket)
client.sendall(options.line.encode() + b"\n")
client.shutdown(socket.SHUT_WR)  # as `nc -N` does: the answer comes all the same
answer = b""
while piece := client.recv(65536):
    answer += piece
head, body = answer.split(b"\n", 1)
status, length = head.split()
if int(length) != len(body):
    sys.exit(f"{length.decode()} bytes were promised, {len(body)} came")
print(status.decode())
if options.out:
    with open(options.out, "wb") as file:
        file.write(body)
else:
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
