#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ask.py URL [-X METHOD] [-H HEADER]... [-d BODY] [-o FILE] [-s]: makes a request, and prints the answer.

First the status; then the headers that belong to the contract, sorted; an empty line; the body, as it is, or with -s its
shape: what a reader relies on, without what differs from one program to the next. Exits with 1 if there is no answer.
URL may be unix:/path:/debug/pprof/... .

ask.py -i BASE: makes the requests of its standard input, a line each: PATH [OPTION]..., and prints each line before its
answer.
"""
import gzip
import re
import shlex
import socket
import sys

SHOWN = ("allow", "content-disposition", "content-encoding", "content-type", "location", "www-authenticate",
         "x-content-type-options", "x-go-pprof")


def parse(arguments):
    options = {"method": None, "headers": [], "body": None, "file": None, "shape": False, "url": None}
    rest = iter(arguments)
    for word in rest:
        if word == "-X":
            options["method"] = next(rest)
        elif word == "-H":
            options["headers"].append(next(rest))
        elif word == "-d":
            options["body"] = next(rest).encode()
        elif word == "-o":
            options["file"] = next(rest)
        elif word == "-s":
            options["shape"] = True
        else:
            options["url"] = word
    return options


def connect(url):
    if url.startswith("unix:"):
        path, _, target = url[5:].partition(":")
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection, "localhost", target
    host, _, target = url[len("http://"):].partition("/")
    name, _, port = host.rpartition(":")
    return socket.create_connection((name.strip("[]"), int(port))), host, "/" + target


def receive(connection):
    data = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece


def unchunk(body):
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        count = int(size, 16)
        whole += body[:count]
        body = body[count + 2:]
    return whole


def ask(options):
    connection, host, target = connect(options["url"])
    body = options["body"]
    lines = ["%s %s HTTP/1.1" % (options["method"] or ("POST" if body is not None else "GET"), target)]
    if not any(header.lower().startswith("host:") for header in options["headers"]):
        lines.append("Host: " + host)
    lines += options["headers"] + ["Connection: close"]
    if body is not None:
        lines.append("Content-Length: %d" % len(body))
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b""))
    head, _, content = receive(connection).partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    fields = [tuple(part.strip() for part in header.split(":", 1)) for header in headers]
    if any(name.lower() == "transfer-encoding" for name, _ in fields):
        content = unchunk(content)
    length = [int(value) for name, value in fields if name.lower() == "content-length"]
    if length and options["method"] != "HEAD" and length[0] != len(content):
        raise ValueError("Content-Length %d, %d bytes came" % (length[0], len(content)))
    return first.split(" ")[1], fields, content


def shape(content):
    """A line or two that say what the body is."""
    if content[:2] == b"\x1f\x8b":
        return "gzip, %s" % ("something" if gzip.decompress(content) else "nothing")
    text = content.decode(errors="replace")
    if text.startswith("<"):
        return "html: " + ("a link to heap" if re.search(r"<a href='[./]*heap\?debug=1'>heap</a>", text) else "no link")
    first = re.sub(r"0x[0-9a-f]+", "0xN", re.sub(r"\b[0-9]+\b", "N", text.split("\n")[0]))
    rows = "rows" if re.search(r"^[0-9].* @ 0x", text, re.M) else "no rows"
    if " @ heap" in first or "profile: total" in first or first.startswith("---"):
        return "%s / %s" % (first, rows)
    if re.match(r"(goroutine|thread) N ", first):
        return "a stack: " + ("with its state" if re.search(r"\[.+\]:$", first) else first)
    if "num_symbols" in first:
        return "num_symbols / %d names" % len(re.findall(r"^0x[0-9a-f]+ \S", text, re.M))
    return text


def answer(options):
    status, fields, content = ask(options)
    print(status)
    for name, value in sorted((name.lower(), value) for name, value in fields):
        if name in SHOWN:
            print("%s: %s" % (name, value))
    print()
    if options["file"]:
        with open(options["file"], "wb") as file:
            file.write(content)
    elif options["shape"]:
        print(shape(content))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)


def main():
    lines = [shlex.split(line) for line in sys.stdin] if sys.argv[1] == "-i" else [None]
    for line in lines:
        if line:
            print("== " + shlex.join(line))
        options = parse(["-s", sys.argv[2] + line[0], *line[1:]] if line else sys.argv[1:])
        try:
            answer(options)
        except (OSError, IndexError, ValueError) as error:
            print("no answer: %s" % error)
            if not line:
                sys.exit(1)


main()
