# SPDX-License-Identifier: MIT
#
# messages.py: reads the protobuf messages that carry profiles, from one table of their published definitions:
#
#   profile.proto                     github.com/google/pprof
#   push.v1, types.v1                 Grafana Pyroscope 2.2.1
#   parca.profilestore.v1alpha1       Parca 0.28.0
#   opentelemetry.proto.profiles.v1development, with the messages of its service    opentelemetry-proto 1.10.0 and 1.11.0
#
# A message becomes a dictionary that has all fields of the table. What the table does not know is an error, as are a wrong
# wire type, text that is not UTF-8, and a field that occurs twice though it is not repeated.
import struct


class Malformed(ValueError):
    pass


# NAME: {number: (field, type)}; "*" before the type: repeated. Types with a capital letter are messages.
MESSAGES = {
    "Profile": {
        1: ("sample_type", "*ValueType"), 2: ("sample", "*Sample"), 3: ("mapping", "*Mapping"),
        4: ("location", "*Location"), 5: ("function", "*Function"), 6: ("string_table", "*string"),
        7: ("drop_frames", "int64"), 8: ("keep_frames", "int64"), 9: ("time_nanos", "int64"),
        10: ("duration_nanos", "int64"), 11: ("period_type", "ValueType"), 12: ("period", "int64"),
        13: ("comment", "*int64"), 14: ("default_sample_type", "int64"), 15: ("doc_url", "int64"),
    },
    "ValueType": {1: ("type", "int64"), 2: ("unit", "int64")},
    "Sample": {1: ("location_id", "*uint64"), 2: ("value", "*int64"), 3: ("label", "*Label")},
    "Label": {1: ("key", "int64"), 2: ("str", "int64"), 3: ("num", "int64"), 4: ("num_unit", "int64")},
    "Mapping": {
        1: ("id", "uint64"), 2: ("memory_start", "uint64"), 3: ("memory_limit", "uint64"), 4: ("file_offset", "uint64"),
        5: ("filename", "int64"), 6: ("build_id", "int64"), 7: ("has_functions", "bool"), 8: ("has_filenames", "bool"),
        9: ("has_line_numbers", "bool"), 10: ("has_inline_frames", "bool"),
    },
    "Location": {
        1: ("id", "uint64"), 2: ("mapping_id", "uint64"), 3: ("address", "uint64"), 4: ("line", "*Line"),
        5: ("is_folded", "bool"),
    },
    "Line": {1: ("function_id", "uint64"), 2: ("line", "int64"), 3: ("column", "int64")},
    "Function": {
        1: ("id", "uint64"), 2: ("name", "int64"), 3: ("system_name", "int64"), 4: ("filename", "int64"),
        5: ("start_line", "int64"),
    },
    # Pyroscope
    "PushRequest": {1: ("series", "*PushSeries")},
    "PushSeries": {1: ("labels", "*LabelPair"), 2: ("samples", "*PushSample")},
    "PushSample": {1: ("rawProfile", "bytes"), 2: ("ID", "string")},
    "LabelPair": {1: ("name", "string"), 2: ("value", "string")},
    # Parca
    "WriteRawRequest": {2: ("series", "*RawSeries"), 3: ("normalized", "bool")},
    "RawSeries": {1: ("labels", "LabelSet"), 2: ("samples", "*RawSample")},
    "LabelSet": {1: ("labels", "*LabelPair")},
    "RawSample": {1: ("rawProfile", "bytes"), 2: ("executableInfo", "*ExecutableInfo")},
    "ExecutableInfo": {1: ("elfType", "uint64"), 2: ("loadSegment", "LoadSegment")},
    "LoadSegment": {1: ("offset", "uint64"), 2: ("vaddr", "uint64")},
    # OpenTelemetry
    "ExportProfiles": {1: ("resource_profiles", "*ResourceProfiles"), 2: ("dictionary", "Dictionary")},
    "Dictionary": {
        1: ("mapping_table", "*OtlpMapping"), 2: ("location_table", "*OtlpLocation"),
        3: ("function_table", "*OtlpFunction"), 4: ("link_table", "*OtlpLink"), 5: ("string_table", "*string"),
        6: ("attribute_table", "*OtlpAttribute"), 7: ("stack_table", "*OtlpStack"),
    },
    "ResourceProfiles": {1: ("resource", "Resource"), 2: ("scope_profiles", "*ScopeProfiles"), 3: ("schema_url", "string")},
    "Resource": {1: ("attributes", "*KeyValue"), 2: ("dropped_attributes_count", "uint64")},
    "ScopeProfiles": {1: ("scope", "Scope"), 2: ("profiles", "*OtlpProfile"), 3: ("schema_url", "string")},
    "Scope": {
        1: ("name", "string"), 2: ("version", "string"), 3: ("attributes", "*KeyValue"),
        4: ("dropped_attributes_count", "uint64"),
    },
    # Keys and values in the dictionary (key_strindex, string_value_strindex) are defined, but Pyroscope and Parca do not read them.
    "KeyValue": {1: ("key", "string"), 2: ("value", "AnyValue")},
    "AnyValue": {
        1: ("string", "string"), 2: ("bool", "bool"), 3: ("int", "int64"), 4: ("double", "double"), 7: ("bytes", "bytes"),
    },
    "OtlpProfile": {
        1: ("sample_type", "OtlpType"), 2: ("samples", "*OtlpSample"), 3: ("time_unix_nano", "fixed64"),
        4: ("duration_nano", "uint64"), 5: ("period_type", "OtlpType"), 6: ("period", "int64"), 7: ("profile_id", "bytes"),
        8: ("dropped_attributes_count", "uint64"), 9: ("original_payload_format", "string"),
        10: ("original_payload", "bytes"), 11: ("attribute_indices", "*int64"),
    },
    "OtlpType": {1: ("type", "int64"), 2: ("unit", "int64")},
    "OtlpSample": {
        1: ("stack_index", "int64"), 2: ("attribute_indices", "*int64"), 3: ("link_index", "int64"), 4: ("values", "*int64"),
        5: ("timestamps_unix_nano", "*fixed64"),
    },
    "OtlpMapping": {
        1: ("memory_start", "uint64"), 2: ("memory_limit", "uint64"), 3: ("file_offset", "uint64"), 4: ("filename", "int64"),
        5: ("attribute_indices", "*int64"),
    },
    "OtlpStack": {1: ("location_indices", "*int64")},
    "OtlpLocation": {
        1: ("mapping_index", "int64"), 2: ("address", "uint64"), 3: ("lines", "*OtlpLine"), 4: ("attribute_indices", "*int64"),
    },
    "OtlpLine": {1: ("function_index", "int64"), 2: ("line", "int64"), 3: ("column", "int64")},
    "OtlpFunction": {1: ("name", "int64"), 2: ("system_name", "int64"), 3: ("filename", "int64"), 4: ("start_line", "int64")},
    "OtlpLink": {1: ("trace_id", "bytes"), 2: ("span_id", "bytes")},
    "OtlpAttribute": {1: ("key", "int64"), 2: ("value", "AnyValue"), 3: ("unit", "int64")},
}

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIRE = {"int64": VARINT, "uint64": VARINT, "bool": VARINT, "fixed64": FIXED64, "double": FIXED64}


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= 70:
            raise Malformed("has a number of more than ten bytes")
    return value & (1 << 64) - 1, at


def scalar(kind, data, at):
    if WIRE[kind] == FIXED64:
        if at + 8 > len(data):
            raise Malformed("ends within a number")
        return struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8
    value, at = varint(data, at)
    if kind == "int64" and value >> 63:
        value -= 1 << 64
    return bool(value) if kind == "bool" else value, at


def packed(kind, data):
    values, at = [], 0
    while at < len(data):
        value, at = scalar(kind, data, at)
        values.append(value)
    return values


def nothing(kind):
    if kind.startswith("*"):
        return []
    return {"string": "", "bytes": b"", "bool": False}.get(kind, None if kind[0].isupper() else 0)


def fields(data):
    """Yields number, wire type and content of each field."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise Malformed("has a field 0")
        if wire == VARINT:
            begin = at
            _, at = varint(data, at)
            yield number, wire, data[begin:at]
        elif wire == FIXED64 or wire == FIXED32:
            size = 8 if wire == FIXED64 else 4
            if at + size > len(data):
                raise Malformed("ends within a number")
            yield number, wire, data[at : at + size]
            at += size
        elif wire == BYTES:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Malformed("ends within field %d" % number)
            yield number, wire, data[at : at + size]
            at += size
        else:
            raise Malformed("has wire type %d" % wire)


def content(kind, wire, data):
    """The values of one field, a list."""
    if kind in WIRE:
        if wire == BYTES:
            return packed(kind, data)
        if wire != WIRE[kind]:
            raise Malformed("has wire type %d where %s belongs" % (wire, kind))
        return [scalar(kind, data, 0)[0]]
    if wire != BYTES:
        raise Malformed("has wire type %d where %s belongs" % (wire, kind))
    if kind == "bytes":
        return [data]
    if kind == "string":
        try:
            return [data.decode()]
        except UnicodeDecodeError:
            raise Malformed("has text that is not UTF-8: %r" % data[:40]) from None
    return [decode(kind, data)]


def decode(name, data):
    known = MESSAGES[name]
    message = {field: nothing(kind) for field, kind in known.values()}
    seen = set()
    try:
        for number, wire, part in fields(data):
            if number not in known:
                raise Malformed("has a field %d, which is not defined" % number)
            field, kind = known[number]
            values = content(kind.lstrip("*"), wire, part)
            if kind.startswith("*"):
                message[field] += values
            elif number in seen or len(values) != 1:
                raise Malformed("has %s twice" % field)
            else:
                message[field] = values[0]
            seen.add(number)
    except Malformed as why:
        raise Malformed("%s %s" % (name, why)) from None
    return message
