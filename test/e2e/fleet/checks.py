# SPDX-License-Identifier: MIT
#
# checks.py: what a server of a fleet may expect of a profile and of its labels. All three servers' rules are in here; docs/FLEET.md has
# the source of each. A server that takes less, or that takes what it then shows wrongly, is why this is stricter than each of them.
import re
import time
import zlib

from messages import Malformed, decode

MOST_BYTES = 4 << 20  # Pyroscope's limits, see docs/FLEET.md
MOST_SAMPLES = 16000
MOST_LABELS = 30
OLDEST_NS, NEWEST_NS = 3600 * 10**9, 600 * 10**9
WORD = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*$")  # what a query of Parca can say, and one of Pyroscope about the name, which OTLP's type becomes
TYPE = {"parca": WORD, "pyroscope": re.compile(r"[^-:]+$"), "otlp": WORD}

CPU = {"samples:count:cpu:nanoseconds", "cpu:nanoseconds:cpu:nanoseconds"}
MEMORY = {"%s:space:bytes" % one for one in ("alloc_objects:count", "alloc_space:bytes", "inuse_objects:count", "inuse_space:bytes")}
WAITS = {"contentions:count:contentions:count", "delay:nanoseconds:contentions:count"}
# Names for which the servers' pages have a title and a unit.
TYPES = {"process_cpu": CPU, "memory": MEMORY, "block": WAITS, "mutex": WAITS, "goroutine": {"goroutine:count:goroutine:count"}}


class Refused(Exception):
    def __init__(self, why, status=400):
        super().__init__(why)
        self.status = status


def expand(data, most):
    """The content of a gzip file, which has one member and no bytes after it."""
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(data, most + 1)
    except zlib.error as why:
        raise Refused("the gzip stream is broken: %s" % why) from None
    if len(plain) > most:
        raise Refused("has more than %d bytes when it is expanded" % most, 413)
    if not reader.eof:
        raise Refused("the gzip stream ends early")
    if reader.unused_data:
        raise Refused("bytes follow the gzip stream")
    return plain


def labels_of(pairs, required):
    labels = {}
    for pair in pairs:
        name, value = pair["name"], pair["value"]
        if not name or len(name.encode()) > 1024:
            raise Refused("a label's name has %d bytes" % len(name.encode()))
        if len(value.encode()) > 2048:
            raise Refused("the value of the label %s has %d bytes" % (name, len(value.encode())))
        if name in labels:
            raise Refused("the label %s occurs twice" % name)
        if not value:
            raise Refused("the label %s has no value" % name)
        labels[name] = value
    if len(labels) > MOST_LABELS:
        raise Refused("there are %d labels" % len(labels))
    for name in required:
        if name not in labels:
            raise Refused("there is no label %s" % name)
    return labels


def check_ids(what, messages):
    for at, message in enumerate(messages):
        if message["id"] != at + 1:
            raise Refused("%s %d has the id %d" % (what, at + 1, message["id"]))


def check_strings(profile):
    strings = profile["string_table"]
    if not strings or strings[0] != "":
        raise Refused("string 0 is not empty")
    indices = [profile[field] for field in ("drop_frames", "keep_frames", "default_sample_type", "doc_url")] + profile["comment"]
    for one in profile["sample_type"] + [profile["period_type"]]:
        indices += [one["type"], one["unit"]]
    for mapping in profile["mapping"]:
        indices += [mapping["filename"], mapping["build_id"]]
    for function in profile["function"]:
        indices += [function["name"], function["system_name"], function["filename"]]
    for sample in profile["sample"]:
        for label in sample["label"]:
            indices += [label["key"], label["str"], label["num_unit"]]
    if not all(0 <= index < len(strings) for index in indices):
        raise Refused("an index of the string table is out of range")


def check_samples(profile):
    width, locations = len(profile["sample_type"]), len(profile["location"])
    for at, sample in enumerate(profile["sample"]):
        if len(sample["value"]) != width:
            raise Refused("sample %d has %d values for %d types" % (at, len(sample["value"]), width))
        if not all(1 <= one <= locations for one in sample["location_id"]):
            raise Refused("sample %d refers to a location that is not there" % at)
        keys = [label["key"] for label in sample["label"]]
        if 0 in keys or len(set(keys)) != len(keys):
            raise Refused("sample %d has a label without a name, or twice" % at)
        if len(keys) > 100:
            raise Refused("sample %d has %d labels" % (at, len(keys)))
        if min(sample["value"]) < 0:
            raise Refused("sample %d has a value below 0" % at)
    if len(profile["sample"]) > MOST_SAMPLES:
        raise Refused("there are %d samples" % len(profile["sample"]))


def check_time(begin, duration):
    now = time.time_ns()
    if duration < 0:
        raise Refused("lasts %d ns" % duration)
    if not now - OLDEST_NS < begin < now + NEWEST_NS:
        raise Refused("begins at %d, which is not within the last hour" % begin)


def types_of(profile, backend):
    strings = profile["string_table"]

    def words(value_type):
        pair = [strings[value_type["type"]], strings[value_type["unit"]]]
        if not all(TYPE[backend].match(word) for word in pair):
            raise Refused("the type %s has a character that %s does not allow" % (":".join(pair), backend))
        return ":".join(pair)

    period = words(profile["period_type"])
    return ["%s:%s" % (words(one), period) for one in profile["sample_type"]]


def check_name(name, types):
    if not WORD.match(name):
        raise Refused("the name %r has a character that queries do not allow" % name)
    strange = set(types) - TYPES.get(name, set(types))
    if strange:
        raise Refused("a profile named %s does not have the type %s" % (name, ", ".join(sorted(strange))))


def profile_of(raw, any_time=False):
    """The bytes of a profile.proto, plain, and the message in them."""
    plain = expand(raw, MOST_BYTES) if raw[:2] == b"\x1f\x8b" else raw
    if len(plain) > MOST_BYTES:
        raise Refused("has more than %d bytes" % MOST_BYTES, 413)
    try:
        profile = decode("Profile", plain)
    except Malformed as why:
        raise Refused(str(why)) from None
    if not profile["sample_type"]:
        raise Refused("there is no sample type")
    if profile["period_type"] is None:
        raise Refused("there is no period type")
    for field in "mapping", "location", "function":
        check_ids(field, profile[field])
    check_strings(profile)
    check_samples(profile)
    for location in profile["location"]:
        if location["mapping_id"] > len(profile["mapping"]):
            raise Refused("location %d has no mapping" % location["id"])
        if not all(1 <= line["function_id"] <= len(profile["function"]) for line in location["line"]):
            raise Refused("location %d has no function" % location["id"])
    if any_time:
        return plain, profile
    check_time(profile["time_nanos"], profile["duration_nanos"])
    return plain, profile


def functions_of(profile, most=10):
    """The names with the largest values of the last type, at the leaf; ties by name."""
    sums = {}
    for sample in profile["sample"]:
        name = "(none)"
        if sample["location_id"]:
            location = profile["location"][sample["location_id"][0] - 1]
            name = "0x%x" % location["address"]
            if location["line"]:
                name = profile["string_table"][profile["function"][location["line"][0]["function_id"] - 1]["name"]]
        sums[name] = sums.get(name, 0) + sample["value"][-1]
    return sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:most]


class Series:
    """The times that each series has had. One time belongs to one profile."""

    def __init__(self):
        self.ranges = {}

    def add(self, key, begin, duration, content):
        ranges = self.ranges.setdefault(key, {})
        if ranges.get((begin, duration)) == content:
            raise Refused("is sent again", 409)
        for other, length in ranges:
            if begin == other or (duration and length and begin < other + length and other < begin + duration):
                raise Refused("its time, %d + %d ns, overlaps %d + %d ns, which the series has" % (begin, duration, other, length), 409)
        ranges[begin, duration] = content
