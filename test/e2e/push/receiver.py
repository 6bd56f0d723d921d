#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""receiver.py FOLDER [CERTIFICATE KEY]: a server that takes profiles as Pyroscope, Parca and a collector of OTLP do, in
the requests that cpprof push and libpprof-push send, and is strict about them.

  FOLDER/port       where it listens, on 127.0.0.1
  FOLDER/kinds      the servers that it is, one a line, if this file is there; else all three
  FOLDER/plan       what to do with the next requests, one a line: 503, 429 SECONDS, 400, html, close, hang, slow,
                    redirect URL. A request takes the first line; after the last one all are taken.
  FOLDER/N.pb       the N-th profile that was taken, unpacked; N.json: its path, labels and headers
  FOLDER/requests   one line for each request: path, status, bytes, Authorization, X-Scope-OrgID
"""
import base64
import gzip
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

folder = sys.argv[1]
lock = threading.Lock()
count = 0


def fields(data):
    """The fields of a message of protobuf: (number, value), a value being bytes or an int."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            if at + size > len(data):
                raise ValueError("a field is longer than its message")
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        else:
            raise ValueError("wire type %d" % (key & 7))


def unpack(raw):
    data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    numbers = {number for number, _ in fields(data)}
    for needed, name in ((1, "sample_type"), (6, "string_table"), (11, "period_type")):
        if needed not in numbers:
            raise ValueError("a profile without " + name)
    if len(data) > 4 << 20:
        raise ValueError("more than 4 MiB")
    if sum(1 for number, _ in fields(data) if number == 2) > 16000:
        raise ValueError("more than 16000 samples")
    return data


def check_labels(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a label twice")
    for name in names:
        if not name.replace("_", "a").isalnum() or not name.isascii() or name[0].isdigit():
            raise ValueError("a label's name is " + name)
    labels = dict(pairs)
    if not labels.get("__name__") or not labels.get("service_name"):
        raise ValueError("no __name__ or service_name")
    if len(pairs) > 30:
        raise ValueError("more than 30 labels")
    return labels


def read_pyroscope(headers, body, query):
    if headers["Content-Type"] != "application/proto":
        raise ValueError("content type")
    for number, series in fields(body):
        pairs, profiles = [], []
        for inner, value in fields(series):
            if inner == 1:
                pair = dict(fields(value))
                pairs.append((pair[1].decode(), pair.get(2, b"").decode()))
            elif inner == 2:
                profiles.append(unpack(dict(fields(value))[1]))
            else:
                raise ValueError("field %d of a series" % inner)
        if number != 1 or len(profiles) != 1:
            raise ValueError("expected series with one profile each")
        labels = check_labels(pairs)
        if labels.get("__delta__") != "false":
            raise ValueError("no __delta__=false")
        yield labels, profiles[0]


def read_parca(headers, body, query):
    request = json.loads(body)
    for series in request.get("series", []):
        labels = check_labels([(one["name"], one["value"]) for one in series["labels"]["labels"]])
        for sample in series["samples"]:
            yield labels, unpack(base64.b64decode(sample["rawProfile"], validate=True))


SERVERS = {
    "pyroscope": ("/push.v1.PusherService/Push", read_pyroscope, "application/proto", b""),
    "parca": ("/api/profiles/writeraw", read_parca, "application/json", b"{}"),
}


def kinds():
    try:
        with open(os.path.join(folder, "kinds")) as file:
            return file.read().split()
    except FileNotFoundError:
        return list(SERVERS)


def next_step():
    path = os.path.join(folder, "plan")
    try:
        with open(path) as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    if lines:
        with open(path + ".new", "w") as file:
            file.write("".join(line + "\n" for line in lines[1:]))
        os.rename(path + ".new", path)
    return lines[0].split() if lines else []


def keep(path, labels, data, headers):
    global count
    count += 1
    for name, content in (("%d.pb" % count, data),
                          ("%d.json" % count, json.dumps({"path": path, "labels": labels}).encode())):
        with open(os.path.join(folder, "." + name), "wb") as file:
            file.write(content)
        os.rename(os.path.join(folder, "." + name), os.path.join(folder, name))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, body, more=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def note(self, status, size):
        with open(os.path.join(folder, "requests"), "a") as file:
            file.write("%s %s %d %s %s\n" % (self.path, status, size, self.headers.get("Authorization", "-").replace(" ", "_"),
                                             self.headers.get("X-Scope-OrgID", "-")))

    def misbehave(self, step, size):
        self.note("-".join(step), size)
        if step[0] == "close":
            self.close_connection = True
        elif step[0] == "hang":
            lock.release()
            time.sleep(600)
            lock.acquire()
        elif step[0] == "html":
            self.answer(200, "text/html", b"<html>Welcome to the hotel</html>")
        elif step[0] == "redirect":
            self.answer(307, "text/plain", b"", [("Location", step[1])])
        else:
            more = [("Retry-After", step[1])] if len(step) > 1 else []
            self.answer(int(step[0]), "application/json", b'{"code":"x","message":"as planned"}', more)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            step = next_step() if body not in (b"", b"{}") else []
            if step:
                self.misbehave(step, len(body))
                return
            url = urllib.parse.urlsplit(self.path)
            for kind in kinds():
                path, read, content_type, accepted = SERVERS[kind]
                if url.path == path:
                    try:
                        for labels, data in list(read(self.headers, body, urllib.parse.parse_qs(url.query))):
                            keep(self.path, labels, data, self.headers)
                    except (ValueError, KeyError, IndexError, OSError) as error:
                        self.note(400, len(body))
                        self.answer(400, "application/json", json.dumps({"message": repr(error)}).encode())
                        return
                    self.note(200, len(body))
                    self.answer(200, content_type, accepted)
                    return
            self.note(404, len(body))
            self.answer(404, "text/plain", b"404 page not found")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, ".port"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(folder, ".port"), os.path.join(folder, "port"))
server.serve_forever()
