# SPDX-License-Identifier: MIT
#
# recorder.py ADDRESS FOLDER: stands before the server at ADDRESS (HOST:PORT), and hands on what is asked for or pushed to Pyroscope or Parca,
# with the same Host, so that the targets which an agent names lead here, too. FOLDER/NAME.1, NAME.2 ... are the profiles: those that a
# collector got from /debug/pprof/NAME, and those of the series __name__ NAME that the server took. Prints "port N".
# A profile that is pushed again, because its answer came too late, is not handed on: a server would count it twice (docs/FLEET.md).
# POST /-/stop: nothing more is handed on; answered when the last request is over.
import base64
import gzip
import hashlib
import http.client
import json
import os
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from messages import decode

server, folder = sys.argv[1:]
HANDED_ON = ("host", "content-type", "content-encoding", "accept-encoding", "content-disposition")
changed = threading.Condition()
numbers = {}  # NAME: of its last profile
taken = set()  # hashes of what was pushed
under_way = 0
is_stopped = False


def keep(name, profile):
    with changed:
        numbers[name] = numbers.get(name, 0) + 1
        path = os.path.join(folder, "%s.%d" % (name, numbers[name]))
        with open(path + ".part", "wb") as stream:
            stream.write(profile)
        os.rename(path + ".part", path)


def pushed(path, body):
    """[(__name__, profile)] of a request."""
    body = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    if path.endswith("/push.v1.PusherService/Push"):
        return [({one["name"]: one["value"] for one in series["labels"]}["__name__"], sample["rawProfile"])
                for series in decode("PushRequest", body)["series"] for sample in series["samples"]]
    return [({one["name"]: one["value"] for one in series["labels"]["labels"]}["__name__"], base64.b64decode(sample["rawProfile"]))
            for series in json.loads(body)["series"] for sample in series["samples"]]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() in HANDED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hand_on(self, body):
        """Returns what the client got with status 200, or None."""
        connection = http.client.HTTPConnection(server, timeout=120)
        headers = {name: value for name, value in self.headers.items() if name.lower() in HANDED_ON}
        try:
            connection.request(self.command, self.path, body, headers)
            got = connection.getresponse()
            answer = got.read()
        except (OSError, http.client.HTTPException):
            self.answer(502, [], b"")
            return None
        finally:
            connection.close()
        try:
            self.answer(got.status, got.getheaders(), answer)
        except OSError:
            self.close_connection = True  # the server has it all the same
        return answer if got.status == 200 else None

    def handle_request(self, body):
        global under_way
        path = urllib.parse.urlsplit(self.path).path
        with changed:
            if is_stopped:
                return self.answer(503, [], b"stopped\n")
            under_way += 1
        try:
            content = body and hashlib.sha256(body).digest()
            if content in taken:
                return self.answer(200, [("Content-Type", self.headers["Content-Type"])], b"{}")
            answer = self.hand_on(body)
            if answer is not None and body is not None:
                taken.add(content)
                for name, profile in pushed(path, body):
                    keep(name, profile)
            elif answer is not None and "/debug/pprof/" in path:
                keep(path.rpartition("/")[2], answer)
        finally:
            with changed:
                under_way -= 1
                changed.notify_all()

    def do_GET(self):
        self.handle_request(None)

    def do_POST(self):
        global is_stopped
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/-/stop":
            return self.handle_request(body)
        with changed:
            is_stopped = True
            changed.wait_for(lambda: under_way == 0)
        self.answer(200, [], b"")


listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", listening.server_port, flush=True)
listening.serve_forever()
