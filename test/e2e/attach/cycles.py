#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# cycles.py IN OUT SOCKET N: has the program (victims/attached.c), which reads descriptor IN and answers on OUT, attach and
# detach N times, with all kinds on.
import socket
import sys

to = open(int(sys.argv[1]), "w", buffering=1, closefd=False)
answers = open(int(sys.argv[2]), closefd=False)


def tell(line, expected):
    to.write(line + "\n")
    found = answers.readline().split()
    if found[:2] != expected.split():
        sys.exit(f"{line}: {' '.join(found)}, not {expected}")


def ask(request, body=""):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[3])
    client.sendall(f"{request} HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    answer = b""
    while piece := client.recv(65536):
        answer += piece
    if b" 200 " not in answer.split(b"\r\n")[0]:
        sys.exit(f"{request}: {answer[:400]}")


for cycle in range(int(sys.argv[4])):
    tell("say attach", "said 0")
    tell("state", "state 2")
    ask("POST /control/configure", "heap:1,block:1,mutex:1,fd,cpu:1000")
    if cycle % 10 == 0:
        ask("GET /debug/pprof/heap")
    ask("POST /control/detach")
    tell("state", "state 5")
