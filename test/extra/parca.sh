#!/bin/sh
# SPDX-License-Identifier: MIT
#
# parca.sh: a Parca server scrapes a program with libpprof's server in it, with the targets that it has by default, until
# it has stored a profile of each kind. Not part of ./test.sh: few machines have a Parca.
#
#   BUILD=$PWD/build/release SRC=$PWD [PARCA=/path/to/parca] sh test/extra/parca.sh
#
# Needs parca (the program, or what $PARCA names) and python3. Takes half a minute.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
parca=${PARCA:-parca}
command -v "$parca" >/dev/null || skip "no parca; PARCA=FILE names one"
need python3

cat >look.py <<'PYTHON'
"""look.py targets|types URL: a line for each target (its health, the path) or for each type of profile that is stored."""
import json
import sys
import urllib.request

what, url = sys.argv[1:]
path = {"targets": "/api/targets", "types": "/api/profiles/types"}[what]
with urllib.request.urlopen(url + path) as answer:
    found = json.load(answer)
lines = []
if what == "targets":
    for pool in found["targets"].values():
        for target in pool["targets"]:
            scraped = not target["lastScrape"].startswith("0001")
            health = target["health"] if scraped else "not scraped"
            lines.append(f'{health} {target["lastError"]} {target["url"].split("/debug/pprof/")[1]}')
else:
    lines = [f'{kind["name"]} {kind["sampleType"]}' for kind in found["types"]]
print("\n".join(sorted(lines)))
PYTHON

serve_guest heap:1,block,mutex
address=${url#http://}
cat >parca.yaml <<YAML
object_storage:
  bucket:
    type: FILESYSTEM
    config:
      directory: $work/store
scrape_configs:
  - job_name: libpprof
    scrape_interval: 5s
    scrape_timeout: 8s
    static_configs:
      - targets: ["${address%%/*}"]
YAML
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$parca" --config-path=parca.yaml --http-address="127.0.0.1:$port" --storage-path="$work/data" >parca.log 2>&1 9>&- &
started="$started $!"

look() { python3 look.py "$1" "http://127.0.0.1:$port" >"$1" 2>look.errors; }
all_scraped() { look targets && ! grep -q 'not scraped\|UNKNOWN' targets && [ "$(wc -l <targets)" -ge 5 ]; }
stored() { look types && [ "$(wc -l <types)" -ge 11 ]; }
wait_until all_scraped
! grep -v '^HEALTH_GOOD  ' targets || fail "a target is not well: $(cat targets)"
wait_until stored
expect_equal "what is stored" "block contentions, block delay, goroutine goroutine, memory alloc_objects, memory alloc_space,\
 memory inuse_objects, memory inuse_space, mutex contentions, mutex delay, process_cpu cpu, process_cpu samples" \
    "$(paste -s -d, types | sed 's/,/, /g')"
end_guest
"$parca" --version 2>&1 | tail -n 1
echo ok
