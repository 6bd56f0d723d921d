# SPDX-License-Identifier: MIT
#
# otlp.py: turns an ExportProfilesServiceRequest into messages of profile.proto, one for each profile, with its labels. Tables begin with
# an empty entry, indices are in range, and every entry but the first is used.
from checks import Refused


def value_of(value):
    if value is None:
        raise Refused("an attribute has no value")
    for kind in ("string", "int", "bool", "double"):
        if value[kind]:
            return str(value[kind])
    return str(value["int"])


class Tables:
    def __init__(self, dictionary):
        if dictionary is None:
            raise Refused("there is no dictionary")
        self.tables = {name[: -len("_table")]: entries for name, entries in dictionary.items()}
        self.used = {name: {0} for name in self.tables}
        for name, entries in self.tables.items():
            if not entries:
                raise Refused("the table of %s is empty" % name)
        if self.tables["string"][0] != "":
            raise Refused("string 0 is not empty")
        for name in ("mapping", "location", "function", "stack", "link", "attribute"):
            if any(self.tables[name][0].values()):
                raise Refused("entry 0 of the table of %s is not empty" % name)

    def at(self, table, index):
        if not 0 <= index < len(self.tables[table]):
            raise Refused("index %d of the table of %s is out of range" % (index, table))
        self.used[table].add(index)
        return self.tables[table][index]

    def text(self, index):
        return self.at("string", index)

    def attributes(self, indices):
        pairs = []
        for index in indices:
            attribute = self.at("attribute", index)
            pairs.append((self.text(attribute["key"]), value_of(attribute["value"]), self.text(attribute["unit"]), attribute["value"]))
        return pairs

    def check_all_used(self):
        for name, entries in self.tables.items():
            unused = set(range(len(entries))) - self.used[name]
            if unused:
                raise Refused("nothing uses entry %d of the table of %s" % (min(unused), name))


class Converter:
    """Builds one message of profile.proto."""

    def __init__(self, tables, source):
        self.tables, self.source = tables, source
        self.strings, self.ids = {"": 0}, {}
        self.mappings, self.functions, self.locations = [], [], []

    def text(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def type(self, value_type):
        if value_type is None:
            raise Refused("a profile has no type")
        return {field: self.text(self.tables.text(value_type[field])) for field in ("type", "unit")}

    def entry(self, table, index, messages, build):
        """The id in `messages` of an entry; 0 for the entry 0."""
        entry = self.tables.at(table, index)
        if index == 0:
            return 0
        if (table, index) not in self.ids:
            message = build(entry)
            messages.append(message)
            message["id"] = self.ids[table, index] = len(messages)
        return self.ids[table, index]

    def mapping(self, mapping):
        build_ids = [value for key, value, _, _ in self.tables.attributes(mapping["attribute_indices"]) if "build_id" in key]
        return {
            "filename": self.text(self.tables.text(mapping["filename"])), "build_id": self.text(build_ids[0] if build_ids else ""),
        }

    def function(self, function):
        return {field: self.text(self.tables.text(function[field])) for field in ("name", "system_name", "filename")}

    def location(self, location):
        self.tables.attributes(location["attribute_indices"])
        lines = [self.entry("function", line["function_index"], self.functions, self.function) for line in location["lines"]]
        return {
            "mapping_id": self.entry("mapping", location["mapping_index"], self.mappings, self.mapping),
            "address": location["address"], "line": [{"function_id": one} for one in lines if one],
        }

    def sample(self, sample):
        self.tables.at("link", sample["link_index"])
        if len(sample["values"]) != 1:
            raise Refused("a sample has %d values" % len(sample["values"]))
        stack = self.tables.at("stack", sample["stack_index"])["location_indices"]
        if 0 in stack:
            raise Refused("a stack refers to location 0")
        labels = []
        for key, value, unit, raw in self.tables.attributes(sample["attribute_indices"]):
            number = raw["int"] if not raw["string"] else 0
            labels.append({
                "key": self.text(key), "str": 0 if number else self.text(value), "num": number,
                "num_unit": self.text(unit) if number else 0,
            })
        return {
            "location_id": [self.entry("location", one, self.locations, self.location) for one in stack], "value": sample["values"],
            "label": labels,
        }

    def convert(self):
        source = self.source
        if len(source["profile_id"]) not in (0, 16):
            raise Refused("a profile's id has %d bytes" % len(source["profile_id"]))
        self.tables.attributes(source["attribute_indices"])
        profile = {
            "sample_type": [self.type(source["sample_type"])], "period_type": self.type(source["period_type"]),
            "sample": [self.sample(one) for one in source["samples"]], "period": source["period"],
            "time_nanos": source["time_unix_nano"], "duration_nanos": source["duration_nano"], "comment": [],
            "drop_frames": 0, "keep_frames": 0, "default_sample_type": 0, "doc_url": 0,
            "mapping": self.mappings, "location": self.locations, "function": self.functions,
        }
        profile["string_table"] = list(self.strings)
        return profile


def profiles_of(request):
    """Yields the labels' pairs and the profile, for each profile of the request."""
    tables = Tables(request["dictionary"])
    found = []
    for resource in request["resource_profiles"]:
        if resource["resource"] is None:
            raise Refused("profiles have no resource")
        pairs = [{"name": one["key"], "value": value_of(one["value"])} for one in resource["resource"]["attributes"]]
        for scope in resource["scope_profiles"]:
            for profile in scope["profiles"]:
                found.append((pairs, Converter(tables, profile).convert()))
    if not found:
        raise Refused("there is no profile")
    tables.check_all_used()
    return found
