#!/usr/bin/python3
# SPDX-License-Identifier: MIT
#
# totals.py FILE [NAME]: reads the tables that `cpprof top -p --json` has printed, the last of which may be unfinished. Prints
# their number and the sum of their totals, or of the cum values of the function NAME.
import json
import sys

text = open(sys.argv[1]).read()
decoder = json.JSONDecoder()
tables = []
at = 0
while at < len(text):
    try:
        table, at = decoder.raw_decode(text, at)
    except json.JSONDecodeError:
        break
    tables.append(table)
    while at < len(text) and text[at].isspace():
        at += 1
if len(sys.argv) > 2:
    values = [row["cum"] for table in tables for row in table["rows"] if row["name"] == sys.argv[2]]
else:
    values = [table["profile"]["total"] for table in tables]
print(len(tables), sum(values))
