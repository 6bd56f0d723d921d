# SPDX-License-Identifier: MIT
#
# cases.py pyroscope|parca|otlp|answers URL PROFILE: sends right and wrong requests to the strict receiver (receiver.py), with the pprof
# file PROFILE in them, and prints what was not answered as it should be. Exits with 1 then. "answers" is for a receiver of Pyroscope's
# requests: what it does instead of what is right.
import base64
import gzip
import http.client
import json
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from messages import decode, fields

backend, url, path = sys.argv[1:4]
with gzip.open(path) as stream:
    plain = stream.read()
profile = decode("Profile", plain)
wrong = []


def post(path, body, kind="application/json", headers=None):
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    request = urllib.request.Request(url + path, body, dict(headers or {}, **{"Content-Type": kind}), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def expect(what, status, word, answer):
    if answer[0] != status or word not in answer[1]:
        wrong.append("%s: %d %s, not %d with %r" % (what, answer[0], answer[1], status, word))


# ---- writing protobuf ----


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def without(data, number):
    """A message without one of its fields; only for fields of the kinds that profile.proto has."""
    return b"".join(field(one, part) if wire == 2 else varint(one << 3 | wire) + part for one, wire, part in fields(data) if one != number)


later = iter(range(1, 1000))


def shifted(data=plain):
    """The profile, a little later each time, so that it does not overlap the one before."""
    step = next(later) * (profile["duration_nanos"] + 1000)
    return without(data, 9) + field(9, profile["time_nanos"] + step)


LABELS = [("__name__", "process_cpu"), ("service_name", "shop")]


def as_json(labels, raw, camel=True):
    pairs = [{"name": name, "value": value} for name, value in labels]
    sample = {"rawProfile" if camel else "raw_profile": base64.b64encode(raw).decode()}
    return {"series": [{"labels": pairs if backend == "pyroscope" else {"labels": pairs}, "samples": [sample]}]}


def common(path):
    def send(labels=None, raw=None, **more):
        return post(path, as_json(LABELS if labels is None else labels, shifted() if raw is None else raw, **more))

    expect("a profile", 200, "", send())
    expect("a gzipped profile", 200, "", send(raw=gzip.compress(shifted())))
    expect("the other spelling", 200, "", send(camel=False))
    same = shifted()
    expect("a profile to be sent twice", 200, "", send(raw=same))
    expect("a profile twice", 409, "is sent again", send(raw=same))
    moment = without(shifted(), 10)
    expect("a profile of a moment", 200, "", send(raw=moment))
    expect("a moment twice", 409, "is sent again", send(raw=moment))
    expect("another profile of that moment", 409, "overlaps", send(raw=moment + field(13, 0)))
    expect("another series at that time", 200, "", send(LABELS + [("host", "two")], same))
    expect("a time that overlaps", 409, "overlaps", send(raw=without(same, 9) + field(9, decode("Profile", same)["time_nanos"] + 1)))
    expect("no name", 400, "no label __name__", send(LABELS[1:]))
    expect("a label twice", 400, "twice", send(LABELS + [("a", "1"), ("a", "2")]))
    expect("a label without a name", 400, "0 bytes", send(LABELS + [("", "1")]))
    expect("a label without a value", 400, "no value", send(LABELS + [("a", "")]))
    expect("a long value", 400, "3000 bytes", send(LABELS + [("a", "x" * 3000)]))
    expect("many labels", 400, "labels", send(LABELS + [("l%d" % at, "1") for at in range(40)]))
    expect("a name with a dot", 400, "do not allow", send([("__name__", "a.b")] + LABELS[1:]))
    expect("a name of other types", 400, "does not have the type", send([("__name__", "memory")] + LABELS[1:]))
    dotted = plain.replace(b"samples", b"sam.les")  # as a custom profile of libpprof may be named
    custom = send([("__name__", "custom")] + LABELS[1:], dotted)
    expect("a type with a dot", *((200, "") if backend == "pyroscope" else (400, "does not allow")), custom)
    dashed = send([("__name__", "custom")] + LABELS[1:], plain.replace(b"samples", b"sam-les"))
    expect("a type with a dash", 400, "does not allow", dashed)
    expect("no profile", 400, "sample type", send(raw=b""))
    expect("garbage", 400, "Profile", send(raw=b"no profile at all"))
    expect("a gzip stream that ends early", 400, "ends early", send(raw=gzip.compress(shifted())[:-9]))
    expect("bytes after a gzip stream", 400, "follow", send(raw=gzip.compress(shifted()) + b"x"))
    expect("a large profile", 413, "bytes", send(raw=gzip.compress(b"\0" * (5 << 20))))
    expect("no type of the period", 400, "period type", send(raw=without(shifted(), 11)))
    expect("a field that is not defined", 400, "field 99", send(raw=shifted() + field(99, 1)))
    expect("a time long ago", 400, "last hour", send(raw=without(plain, 9) + field(9, profile["time_nanos"] - 2 * 3600 * 10**9)))
    expect("a time to come", 400, "last hour", send(raw=without(plain, 9) + field(9, profile["time_nanos"] + 3600 * 10**9)))
    expect("strings that do not begin with an empty one", 400, "", send(raw=without(shifted(), 6)))
    expect("a sample of another width", 400, "values", send(raw=shifted() + field(2, field(2, varint(1) * 7))))
    nowhere = field(1, varint(10**6)) + field(2, varint(0) * len(profile["sample_type"]))
    expect("a location that is not there", 400, "location", send(raw=shifted() + field(2, nowhere)))
    expect("no JSON", 400, "JSON", post(path, b"{"))
    expect("a member that is not defined", 400, "not defined", post(path, {"serie": []}))
    expect("no series", 400, "no profile", post(path, {"series": []}))
    expect("another type of content", 415, "Content-Type", post(path, b"x", "text/plain"))
    expect("another path", 404, "", post("/elsewhere", {}))


def pyroscope():
    path = "/push.v1.PusherService/Push"
    common(path)
    expect("no service", 400, "service_name", post(path, as_json(LABELS[:1], shifted())))
    body = json.dumps(as_json(LABELS, shifted())).encode()
    expect("a gzipped body", 200, "", post(path, gzip.compress(body), headers={"Content-Encoding": "gzip"}))
    pairs = b"".join(field(1, field(1, name) + field(2, value)) for name, value in LABELS)
    message = field(1, pairs + field(2, field(1, shifted())))
    expect("protobuf", 200, "", post(path, message, "application/proto"))
    expect("protobuf that ends early", 400, "ends", post(path, message[:-1], "application/proto"))
    ingest = "/ingest?format=pprof&name=shop%7Bhost%3Done%7D"
    expect("/ingest", 200, "", post(ingest, shifted(), "application/octet-stream"))
    expect("/ingest without a format", 400, "format", post(ingest.replace("format", "f"), shifted(), "application/octet-stream"))
    expect("/ingest without labels", 400, "braces", post("/ingest?format=pprof&name=shop", shifted(), "application/octet-stream"))


def parca():
    path = "/api/profiles/writeraw"
    common(path)
    body = json.dumps(as_json(LABELS, shifted())).encode()
    expect("a gzipped body", 415, "gzip", post(path, gzip.compress(body), headers={"Content-Encoding": "gzip"}))
    expect("a series without labels", 400, "no labels", post(path, {"series": [{"samples": []}]}))


def otlp():
    path, kind = "/v1development/profiles", "application/x-protobuf"
    begin = profile["time_nanos"]

    def tables(**changes):
        parts = {
            1: [b"", field(4, 3)], 2: [b"", field(1, 1) + field(2, 4096) + field(3, field(1, 1))], 3: [b"", field(1, 4)], 4: [b""],
            5: ["", "cpu", "nanoseconds", "/bin/shop", "main"], 6: [b""], 7: [b"", field(1, varint(1))],
        }
        parts.update({int(key[1:]): value for key, value in changes.items()})
        return b"".join(field(number, part) for number, entries in parts.items() for part in entries)

    def send(dictionary=None, attributes=(("service.name", "shop"),), stack=1, values=varint(7), headers=None, change=lambda body: body):
        at = begin + next(later) * 10**6
        value_type = field(1, 1) + field(2, 2)
        sample = field(1, stack) + field(4, values)
        one = field(1, value_type) + field(2, sample) + varint(3 << 3 | 1) + struct.pack("<Q", at) + field(4, 10**5)
        one += field(5, value_type) + field(6, 10**7) + field(7, bytes(16))
        pairs = b"".join(field(1, field(1, name) + field(2, field(1, value))) for name, value in attributes)
        body = field(1, field(1, pairs) + field(2, field(1, field(1, "libpprof")) + field(2, one)))
        body += field(2, tables() if dictionary is None else dictionary)
        return post(path, change(body), kind, headers)

    expect("a profile", 200, "", send())
    expect("a gzipped body", 200, "", send(headers={"Content-Encoding": "gzip"}, change=gzip.compress))
    expect("a body that ends early", 400, "ends", send(change=lambda body: body[:-3]))
    expect("a field that is not defined", 400, "field 9", send(change=lambda body: body + field(9, 1)))
    expect("no service", 400, "service.name", send(attributes=()))
    expect("an attribute twice", 400, "twice", send(attributes=(("service.name", "a"), ("service.name", "b"))))
    expect("no dictionary", 400, "empty", send(dictionary=b""))
    expect("a table without its empty entry", 400, "entry 0", send(tables(_3=[field(1, 4)])))
    expect("an entry that nothing uses", 400, "nothing uses", send(tables(_3=[b"", field(1, 4), field(1, 4)])))
    expect("a stack that is not there", 400, "range", send(stack=9))
    expect("two values", 400, "2 values", send(values=varint(1) * 2))
    expect("text that is not UTF-8", 400, "UTF-8", send(tables(_5=["", "cpu", "nanoseconds", b"\xff", "main"])))
    expect("a type with a dot", 400, "type", send(tables(_5=["", "my.cpu", "nanoseconds", "/bin/shop", "main"])))
    expect("JSON", 415, "Content-Type", post(path, {}))


def answers():
    path = "/push.v1.PusherService/Push"

    def send(labels=tuple(LABELS), **wanted):
        expect("what is to come", 200, "", post("/-/next", dict(wanted, times=1)))
        pairs = [{"name": name, "value": value} for name, value in labels]
        body = json.dumps({"series": [{"labels": pairs, "samples": [{"rawProfile": base64.b64encode(shifted()).decode()}]}]})
        client = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        begin = time.monotonic()
        try:
            client.request("POST", path, body, {"Content-Type": "application/json"})
            answer = client.getresponse()
            content = answer.read().decode()
            return answer.status, "%s %s" % (answer.headers, content), time.monotonic() - begin
        except (http.client.HTTPException, ConnectionError) as why:
            return 0, repr(why), 0
        finally:
            client.close()

    expect("429", 429, "Retry-After: 7", send(status=429, retry_after=7))
    expect("500", 500, "broken", send(status=500, body="broken"))
    expect("elsewhere", 307, "Location: http://127.0.0.1:9/push.v1", send(redirect="http://127.0.0.1:9"))
    expect("garbage", 0, "BadStatusLine", send(garbage=True))
    expect("closed before", 0, "RemoteDisconnected", send(close="before"))
    expect("closed after", 0, "RemoteDisconnected", send(close="after"))
    slow = send(slow=0.5)
    expect("slow", 200, "", slow)
    if slow[2] < 0.5:
        wrong.append("slow: %g s" % slow[2])
    expect("after all that", 200, "", post("/-/next", {}))
    expect("right again", 200, "", send())


{"answers": answers, "pyroscope": pyroscope, "parca": parca, "otlp": otlp}[backend]()
print("\n".join(wrong) or "as it should be")
sys.exit(bool(wrong))
