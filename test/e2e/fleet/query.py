# SPDX-License-Identifier: MIT
#
# query.py pyroscope|parca URL SELECTOR NAME=PROFILES...: asks a real server for all profiles of the last hour with the labels of SELECTOR,
# as in '{service_name="shop"}', and compares them with the pprof files that were sent to it as __name__ NAME: the total of each type, to the
# unit, and the ten functions that have most at the leaf. PROFILES is a file, or FILE,FILE,-FILE: the sum of the first two without the third.
# NAME=PROFILES@PREFIX compares only types that begin with PREFIX, and says that the profile was sent in parts, as deltas. It waits for what is
# not there yet, for at most a minute. Prints the totals, and what differs; exits with 1 then. "ready" as the selector: only waits until the
# server is ready.
import base64
import gzip
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from messages import decode

backend, url, selector = sys.argv[1:4]


def ask(path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"} if data else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def times():
    now = time.time()
    return now - 3600, now + 600


def at_leaves(profile, index, without=None):
    """The sums of the functions at the leaves, without samples that have the label `without`."""
    sums, text = {}, profile["string_table"]
    for sample in profile["sample"]:
        if any((text[label["key"]], text[label["str"]]) == without for label in sample["label"]):
            continue
        name = ""
        if sample["location_id"] and profile["location"][sample["location_id"][0] - 1]["line"]:
            line = profile["location"][sample["location_id"][0] - 1]["line"][0]
            name = text[profile["function"][line["function_id"] - 1]["name"]]
        if sample["value"][index]:
            sums[name] = sums.get(name, 0) + sample["value"][index]
    return sums


def sent(name, path, is_delta):
    """{type: {function: value}}, with the types as cpprof push calls them: thread as goroutine, and words that servers can say."""
    with open(path, "rb") as stream:
        data = stream.read()
    profile = decode("Profile", gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    text = profile["string_table"]
    if name == "goroutine":
        text = [name if one == "thread" else one for one in text]
    text = [re.sub("[^a-zA-Z0-9_]", "_", one) for one in text]
    period = profile["period_type"]
    suffix = ":%s:%s" % (text[period["type"]], text[period["unit"]])

    def word(one):
        # What is in use is no difference, and comes as a profile of its own.
        lasts = profile["duration_nanos"] or (is_delta and not text[one["type"]].startswith("inuse_"))
        return "%s:%s%s%s" % (text[one["type"]], text[one["unit"]], suffix, ":delta" if backend == "parca" and lasts else "")

    types = [word(one) for one in profile["sample_type"]]
    # Waits that go on are in a profile of all waits, not in a delta.
    without = ("state", "waiting") if is_delta else None
    found = {kind: at_leaves(profile, at, without) for at, kind in enumerate(types)}
    for kind in found:
        if kind.startswith("samples:count:") and kind.endswith(":delta"):  # Parca shows them as time
            found[kind] = {name: value * profile["period"] for name, value in found[kind].items()}
    return found


def from_pyroscope(kind):
    begin, end = times()
    body = {"profile_typeID": kind, "label_selector": selector, "start": int(begin * 1000), "end": int(end * 1000), "maxNodes": 1 << 20}
    flame = ask("/querier.v1.QuerierService/SelectMergeStacktraces", body).get("flamegraph", {})
    sums = {}
    for level in flame.get("levels", []):
        values = [int(value) for value in level["values"]]
        for at in range(0, len(values), 4):  # offset, total, self, index of the name
            if values[at + 2]:
                name = flame["names"][values[at + 3]]
                sums[name] = sums.get(name, 0) + values[at + 2]
    return sums


def from_parca(kind):
    begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one)) for one in times())
    query = {"mode": "MODE_MERGE", "merge.query": kind + selector, "merge.start": begin, "merge.end": end, "report_type": "REPORT_TYPE_PPROF"}
    try:
        answer = ask("/api/profiles/query?" + urllib.parse.urlencode(query))
    except urllib.error.HTTPError:
        return {}
    return at_leaves(decode("Profile", gzip.decompress(base64.b64decode(answer["pprof"]))), 0)


def added_up(name, paths, is_delta):
    """What sent() finds in all of the files, without what it finds in those with a "-" before their names."""
    sums = {}
    for path in paths.split(","):
        sign = -1 if path.startswith("-") else 1
        for kind, found in sent(name, path.lstrip("-"), is_delta).items():
            for function, value in found.items():
                of_kind = sums.setdefault(kind, {})
                of_kind[function] = of_kind.get(function, 0) + sign * value
    return {kind: {function: value for function, value in found.items() if value} for kind, found in sums.items()}


def matched(kind, wanted):
    """What the server has, once its total is right, or after a minute."""
    until = time.monotonic() + 60
    while True:
        got = from_pyroscope(kind) if backend == "pyroscope" else from_parca(kind)
        if sum(got.values()) == sum(wanted.values()) or time.monotonic() > until:
            return got
        time.sleep(0.5)


def ready():
    path = "/ready" if backend == "pyroscope" else "/api/profiles/has_profile_data"
    until = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(url + path, timeout=10):
                return
        except OSError:
            if time.monotonic() > until:
                sys.exit("%s is not ready after two minutes" % url)
            time.sleep(0.5)


def top(sums):
    return sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:10]


def main():
    if selector == "ready":
        return ready()
    differs = compared = 0
    for one in sys.argv[4:]:
        name, paths = one.split("=", 1)
        paths, in_parts, prefix = paths.partition("@")
        for kind, wanted in added_up(name, paths, in_parts).items():
            if not wanted or not kind.startswith(prefix):
                continue
            compared += 1
            got = matched("%s:%s" % (name, kind), wanted)
            if top(got) != top(wanted):
                differs += 1
                print("%s:%s: sent %d %s\n  has %d %s" % (name, kind, sum(wanted.values()), top(wanted), sum(got.values()), top(got)))
            else:
                print("%s:%s %d" % (name, kind, sum(got.values())))
    return bool(differs or not compared)


sys.exit(main())
