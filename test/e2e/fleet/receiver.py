# SPDX-License-Identifier: MIT
#
# receiver.py [--port N] --as pyroscope|parca|otlp --store FOLDER [--token TOKEN] [--tenant NAME] [--any-time] [--tls CERTIFICATE KEY]:
# a server of a fleet that takes only what is right in every respect (checks.py), for tests on machines that have no real one. It prints
# "port N" when it listens.
#
# FOLDER/received.jsonl has a line for each profile, and for each request that was refused; FOLDER/N.pb has the profile of line N.
#
#   POST /-/next {"times": 3, "status": 429, "retry_after": 1}   what it does with the next requests that are not for /-/:
#       "status", "retry_after", "body"    an answer instead of the right one
#       "garbage": true                    bytes that are no HTTP
#       "redirect": URL                    307
#       "slow": SECONDS                    waits before it answers
#       "close": "before"|"after"          closes the connection, before or after it has taken the profile
import argparse
import base64
import binascii
import hashlib
import hmac
import json
import os
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import otlp
from checks import Refused, Series, check_name, check_samples, check_time, expand, functions_of, labels_of, profile_of, types_of
from messages import MESSAGES, Malformed, decode

MOST_BODY = 64 << 20
MESSAGES_OF_JSON = {"PushRequest", "WriteRawRequest"}


def snake(name):
    return "".join("_" + one.lower() if one.isupper() else one for one in name) if name != "ID" else name


def from_json(name, value):
    """The message that decode() would give, of protobuf's JSON."""
    if not isinstance(value, dict):
        raise Refused("%s is no object" % name)
    kinds = dict(MESSAGES[name].values())
    message = {field: [] if kind.startswith("*") else None if kind[0].isupper() else "" for field, kind in kinds.items()}
    names = {spelling: field for field in kinds for spelling in (field, snake(field))}
    for key, part in value.items():
        if key not in names:
            raise Refused("%s has a member %s, which is not defined" % (name, key))
        kind = kinds[names[key]]
        parts = part if kind.startswith("*") else [part]
        if not isinstance(parts, list):
            raise Refused("%s of %s is no list" % (key, name))
        parts = [member(kind.lstrip("*"), one) for one in parts]
        message[names[key]] = parts if kind.startswith("*") else parts[0]
    return message


def member(kind, value):
    if kind[0].isupper():
        return from_json(kind, value)
    if kind == "bool" and isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise Refused("%r is no %s" % (value, kind))
    if kind != "bytes":
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as why:
        raise Refused("is no base64: %s" % why) from None


class Store:
    def __init__(self, folder):
        self.folder, self.lines, self.lock, self.series = folder, 0, threading.Lock(), Series()
        os.makedirs(folder, exist_ok=True)

    def write(self, line, plain=None):
        self.lines += 1
        if plain is not None:
            with open(os.path.join(self.folder, "%d.pb" % self.lines), "wb") as stream:
                stream.write(plain)
        with open(os.path.join(self.folder, "received.jsonl"), "a") as stream:
            stream.write(json.dumps(line) + "\n")

    def refused(self, line):
        with self.lock:
            self.write(line)

    def profile(self, line, profile, labels, types, plain):
        key = (line["tenant"], tuple(sorted(labels.items())), tuple(sorted(types)))
        sums = [sum(sample["value"][at] for sample in profile["sample"]) for at in range(len(types))]
        line = dict(line, labels=labels, types=types, totals=sums, functions=functions_of(profile), samples=len(profile["sample"]))
        line.update({field: profile[field] for field in ("period", "time_nanos", "duration_nanos")})
        content = hashlib.sha256(plain or repr(profile).encode()).digest()
        with self.lock:
            self.series.add(key, profile["time_nanos"], profile["duration_nanos"], content)
            self.write(line, plain)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, why):
        codes = {"parca": {"code": 3, "message": why, "details": []}, "pyroscope": {"code": "invalid_argument", "message": why}}
        self.answer(status, json.dumps(codes.get(self.server.options.backend, {"code": 3, "message": why})).encode())

    # ---- the body ----

    def body(self):
        if self.headers.get("Transfer-Encoding"):
            raise Refused("has no length", 411)
        size = int(self.headers.get("Content-Length", "0"))
        if size > MOST_BODY:
            raise Refused("has %d bytes" % size, 413)
        data = self.rfile.read(size)
        if len(data) != size:
            raise ConnectionError("the request ends early")
        return data

    def decoded(self, data):
        encoding = self.headers.get("Content-Encoding", "identity")
        if encoding == "gzip" and self.server.options.backend != "parca":
            return expand(data, MOST_BODY)
        if encoding != "identity":
            raise Refused("Content-Encoding %s is not understood" % encoding, 415)
        return data

    def message(self, name, data):
        kind = self.headers.get("Content-Type", "")
        if kind == "application/json" and name in MESSAGES_OF_JSON:
            try:
                return from_json(name, json.loads(data))
            except ValueError as why:
                raise Refused("is no JSON: %s" % why) from None
        if kind not in ("application/proto", "application/x-protobuf"):
            raise Refused("Content-Type %r is not understood" % kind, 415)
        try:
            return decode(name, data)
        except Malformed as why:
            raise Refused(str(why)) from None

    # ---- what each server takes: yields the labels' pairs and profiles ----

    def push(self, data, _):
        return [(series["labels"], sample["rawProfile"]) for series in self.message("PushRequest", data)["series"] for sample in series["samples"]]

    def ingest(self, data, query):
        if query.get("format") != ["pprof"]:
            raise Refused("format is %s, not pprof" % query.get("format"))
        name, _, rest = query.get("name", [""])[0].partition("{")
        if not rest.endswith("}"):
            raise Refused("name has no labels in braces")
        pairs = [dict(zip(("name", "value"), one.split("=", 1))) for one in rest[:-1].split(",") if one]
        if not all(len(pair) == 2 for pair in pairs):
            raise Refused("a label of name has no =")
        return [(pairs + [{"name": "service_name", "value": name}], data)]

    def write_raw(self, data, _):
        found = []
        for series in self.message("WriteRawRequest", data)["series"]:
            if series["labels"] is None:
                raise Refused("a series has no labels")
            found += [(series["labels"]["labels"], sample["rawProfile"]) for sample in series["samples"]]
        return found

    def export(self, data, _):
        return otlp.profiles_of(self.message("ExportProfiles", data))

    SERVERS = {  # PATH: (method, labels that have to be there, body of the answer)
        "pyroscope": {
            "/push.v1.PusherService/Push": (push, ("__name__", "service_name"), b"{}"), "/ingest": (ingest, ("service_name",), b""),
        },
        "parca": {"/api/profiles/writeraw": (write_raw, ("__name__",), b"{}")},
        "otlp": {"/v1development/profiles": (export, ("service.name",), b"")},
    }
    STATES = {
        "pyroscope": ("/api/v1/status/buildinfo", {"status": "success", "data": {"version": "2.2.1"}}),
        "parca": ("/api/profiles/has_profile_data", {"hasData": False}), "otlp": ("", {}),
    }

    def take_one(self, required, pairs, content, line):
        labels = labels_of(pairs, required)
        if isinstance(content, dict):
            plain, profile = None, content
            check_samples(profile)
            if not self.server.options.any_time:
                check_time(profile["time_nanos"], profile["duration_nanos"])
        else:
            plain, profile = profile_of(content, self.server.options.any_time)
        types = types_of(profile, self.server.options.backend)
        if "__name__" in labels:
            check_name(labels["__name__"], types)
        self.server.store.profile(line, profile, labels, types, plain)

    def take(self, path, query, line, data):
        """Of a request that is refused, Pyroscope keeps the profiles that are good, also those after the first that is not."""
        method, required, answer = self.SERVERS[self.server.options.backend][path]
        found, refusals = method(self, self.decoded(data), query), []
        if not found:
            raise Refused("there is no profile")
        for pairs, content in found:
            try:
                self.take_one(required, pairs, content, line)
            except Refused as why:
                refusals.append(why)
                if self.server.options.backend != "pyroscope":
                    break
        if refusals:
            raise refusals[0]
        return answer

    def authorized(self):
        token, tenant = self.server.options.token, self.server.options.tenant
        given = self.headers.get("Authorization", "")
        if token and not hmac.compare_digest(given.encode(), ("Bearer %s" % token).encode()):
            raise Refused("the token is %s" % ("wrong" if given else "missing"), 401)
        if tenant and self.headers.get("X-Scope-OrgID") != tenant:
            raise Refused("the tenant is %s" % self.headers.get("X-Scope-OrgID"), 401)

    # ---- misbehaviour ----

    def misbehave(self):
        """What is to be done with this request."""
        with self.server.store.lock:
            wanted = self.server.next
            if not wanted.get("times"):
                return {}
            wanted["times"] -= 1
            return dict(wanted)

    def close(self):
        self.close_connection = True

    def instead(self, wanted):
        """True if it has answered, or has closed the connection, instead of what is right."""
        time.sleep(wanted.get("slow", 0))
        if wanted.get("close") == "before":
            self.close()
        elif wanted.get("garbage"):
            self.wfile.write(b"\x00\xff no answer of HTTP \r\n\r\n")
            self.close()
        elif wanted.get("redirect"):
            self.answer(307, headers=[("Location", wanted["redirect"] + self.path)])
        elif wanted.get("status"):
            headers = [("Retry-After", str(wanted["retry_after"]))] if "retry_after" in wanted else []
            self.answer(wanted["status"], wanted.get("body", "no").encode(), "text/plain", headers)
        else:
            return False
        return True

    # ---- requests ----

    def do_GET(self):
        path, state = self.STATES[self.server.options.backend]
        if self.instead(self.misbehave()):
            return
        if path and urllib.parse.urlsplit(self.path).path == path:
            self.answer(200, json.dumps(state).encode())
        else:
            self.answer(405 if self.path in self.SERVERS[self.server.options.backend] else 404, b"404 page not found\n", "text/plain")

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        line = {
            "path": url.path, "tenant": self.headers.get("X-Scope-OrgID"), "user_agent": self.headers.get("User-Agent"),
            "type": self.headers.get("Content-Type"), "encoding": self.headers.get("Content-Encoding"),
        }
        try:
            data = self.body()
            if url.path == "/-/next":
                self.server.next = json.loads(data)
                return self.answer(200)
            wanted = self.misbehave()
            if self.instead(wanted):
                return None
            if url.path not in self.SERVERS[self.server.options.backend]:
                return self.answer(404, b"404 page not found\n", "text/plain")
            self.authorized()
            answer = self.take(url.path, urllib.parse.parse_qs(url.query), line, data)
            if wanted.get("close") == "after":
                return self.close()
            return self.answer(200, answer, self.headers["Content-Type"])
        except Refused as why:
            self.server.store.refused(dict(line, refused=str(why), status=why.status))
            if why.status in (411, 413):
                self.close()
            return self.refuse(why.status, str(why))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options):
        super().__init__(("127.0.0.1", options.port), Handler)
        self.options, self.store, self.next = options, Store(options.store), {}
        if options.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*options.tls)
            # The handshake is the handler's, so that a client that does not go on holds up nobody else.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, *_):
        pass  # a client that goes away is none of a server's errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--as", dest="backend", choices=sorted(Handler.SERVERS), required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--token")
    parser.add_argument("--tenant")
    parser.add_argument("--any-time", action="store_true")
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    server = Server(parser.parse_args())
    print("port %d" % server.server_address[1], flush=True)
    server.serve_forever()


main()
