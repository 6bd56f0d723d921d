#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pyroscope.sh: a Pyroscope server takes the profiles of a program with libpprof's server in it, under the names that
# Grafana Alloy gives them, and shows them: each type, with names, and the totals that cpprof shows. Not part of ./test.sh: few
# machines have a Pyroscope.
#
#   BUILD=$PWD/build/release SRC=$PWD [PYROSCOPE=/path/to/pyroscope] sh test/extra/pyroscope.sh
#
# Needs pyroscope (the program, or what $PYROSCOPE names), its usual ports (4040, 7946, 9095, 9099), and python3. Takes a minute, of
# which Pyroscope is not ready for the first half.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
pyroscope=${PYROSCOPE:-pyroscope}
command -v "$pyroscope" >/dev/null || skip "no pyroscope; PYROSCOPE=FILE names one"
need python3

cat >call.py <<'PYTHON'
"""call.py ready | push NAME FILE | types | show TYPE: asks the Pyroscope server, for profiles of the service "guest".

types prints a line for each type that is stored; show prints the total of all profiles of a type, then their names.
"""
import base64
import json
import sys
import time
import urllib.parse
import urllib.request
import uuid

SERVER = "http://127.0.0.1:4040"


def call(method, body):
    request = urllib.request.Request(SERVER + method, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def push(name, file):
    labels = {"__name__": name, "service_name": "guest"}
    with open(file, "rb") as profile:
        sample = {"rawProfile": base64.b64encode(profile.read()).decode(), "ID": str(uuid.uuid4())}
    series = {"labels": [{"name": key, "value": value} for key, value in labels.items()], "samples": [sample]}
    call("/push.v1.PusherService/Push", {"series": [series]})


def types():
    hour = 3600 * 1000
    now = int(time.time() * 1000)
    answer = call("/querier.v1.QuerierService/ProfileTypes", {"start": now - hour, "end": now + hour})
    print("\n".join(sorted(found["ID"] for found in answer.get("profileTypes", []))))


def show(kind):
    query = urllib.parse.urlencode({"query": kind + '{service_name="guest"}', "from": "now-1h", "until": "now"})
    with urllib.request.urlopen(f"{SERVER}/pyroscope/render?{query}&format=json") as answer:
        graph = json.load(answer)["flamebearer"]
    print(graph["numTicks"], *graph["names"], sep="\n")


def ready():
    urllib.request.urlopen(SERVER + "/ready").close()


{"ready": ready, "push": push, "types": types, "show": show}[sys.argv[1]](*sys.argv[2:])
PYTHON

"$pyroscope" -architecture.storage=v2 -self-profiling.disable-push=true -usage-stats.enabled=false >pyroscope.log 2>&1 &
started="$started $!"
is_ready() { python3 call.py ready 2>/dev/null; }
wait_until is_ready

serve_guest heap:1,block,mutex
get process_cpu.pb.gz "/profile?seconds=2"
get memory.pb.gz /allocs
for name in block goroutine mutex; do
    get $name.pb.gz /$name
done
end_guest
for name in process_cpu memory block goroutine mutex; do
    python3 call.py push $name $name.pb.gz
done
stored() { python3 call.py types >types && [ "$(wc -l <types)" -ge 11 ]; }
wait_until stored

# TYPE is NAME:SAMPLE_TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT.
count=0
while read -r type; do
    name=${type%%:*}
    sample_type=${type#*:}
    sample_type=${sample_type%%:*}
    "$BUILD/bin/cpprof" top --json --sample="$sample_type" $name.pb.gz >ours
    python3 call.py show "$type" >theirs
    expect_equal "total of $type" "$(python3 "$SRC/test/e2e/live/totals.py" ours | cut -d ' ' -f 2)" "$(sed -n 1p theirs)"
    grep -qx start_thread theirs || fail "$type has no names: $(cat theirs)"
    count=$((count + 1))
done <types
expect_equal "types that are stored" 11 $count
"$pyroscope" --version 2>&1 | grep -i version | head -n 1
echo ok
