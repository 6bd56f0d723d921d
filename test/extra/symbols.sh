#!/bin/sh
# SPDX-License-Identifier: MIT
#
# symbols.sh: profiles with addresses and build ids only get names, lines and inlined functions: cpprof symbolize asks a
# debuginfod, and a Parca has them from a debug file that was uploaded (docs/FLEET.md, "Symbols at scale"). Not part of
# ./test.sh: few machines have the servers.
#
#   BUILD=$PWD/build/release SRC=$PWD [PARCA=/path/to/parca] sh test/extra/symbols.sh
#
# Needs debuginfod, eu-strip (elfutils), cc, curl and python3; without parca the second half is left out.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need debuginfod eu-strip objcopy cc curl python3
cpprof=$BUILD/bin/cpprof
export HOME="$work/home"
mkdir -p home debug gone

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

cat >program.c <<'C'
#include <time.h>
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
    return (x ^ x >> 7) * 0x9e3779b97f4a7c15u;
}
__attribute__((noinline)) unsigned long hash_all(unsigned long n)
{
    unsigned long hash = 1;
    for (unsigned long i = 0; i < n; i++) {
        hash = mix(hash + i);
    }
    return hash;
}
int main(void)
{
    unsigned long sum = 0;
    while (clock() < CLOCKS_PER_SEC / 2) {
        sum += hash_all(100000);
    }
    return sum == 0;
}
C
cc -g -O2 -pie -fPIE -o program program.c
objcopy --only-keep-debug program debug/program.debug
eu-strip -f for_parca.debug program
LIBPPROF=cpu:1000,symbolize=none,file=cpu.pb.gz LD_PRELOAD="$library" ./program || fail "no profile"
id=$(readelf -n program | awk '/Build ID/ { print $3 }')
mv program gone # nobody finds names in it

# has_names FILE: all time is in hash_all, some of it in mix, which is inlined there.
has_names() {
    "$cpprof" top --symbolize=none -n 0 "$1" >top.txt 2>&1 && grep -q ' hash_all' top.txt && grep -q ' mix' top.txt
}

# ---- debuginfod ----

port=$(free_port)
debuginfod -F "$work/debug" -p "$port" -d :memory: >debuginfod.log 2>&1 &
started="$started $!"
wait_until curl -sf -o found.debug "http://127.0.0.1:$port/buildid/$id/debuginfo"
! has_names cpu.pb.gz || fail "a profile of addresses has names"
cp cpu.pb.gz named.pb.gz
DEBUGINFOD_URLS=http://127.0.0.1:$port "$cpprof" symbolize named.pb.gz >symbolized.txt 2>&1 || fail "$(cat symbolized.txt)"
has_names named.pb.gz || fail "cpprof symbolize: $(cat symbolized.txt top.txt)"

# ---- Parca ----

parca=${PARCA:-parca}
command -v "$parca" >/dev/null || { echo "ok, without Parca; PARCA=FILE names one" && exit 0; }
cat >parca.yaml <<YAML
object_storage:
  bucket:
    type: FILESYSTEM
    config:
      directory: "$work/store"
YAML
mkdir cache
port=$(free_port)
"$parca" --config-path=parca.yaml --http-address="127.0.0.1:$port" --storage-active-memory=268435456 --debuginfod-upstream-servers= \
    --profile-share-server=127.0.0.1:9 --debuginfo-cache-dir="$work/cache" >parca.log 2>&1 &
started="$started $!"
wait_until curl -sf -o types.json "http://127.0.0.1:$port/api/profiles/types"

cat >parca.py <<'PYTHON'
"""parca.py upload|query URL BUILD_ID FILE: uploads a debug file; writes the merged CPU profile of the service to FILE."""
import base64
import datetime
import hashlib
import json
import sys
import urllib.parse
import urllib.request

what, url, build_id, path = sys.argv[1:]


def ask(call, body=None):
    request = urllib.request.Request(f"{url}/api/{call}", body and body.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


if what == "upload":
    with open(path, "rb") as file:
        data = file.read()
    about = {"build_id": build_id, "hash": hashlib.sha256(data).hexdigest(), "build_id_type": "BUILD_ID_TYPE_GNU"}
    assert ask("shouldinitiateupload", json.dumps(about))["shouldInitiateUpload"]
    upload = {"build_id": build_id}
    upload["upload_id"] = ask("initiateupload", json.dumps(dict(about, size=len(data))))["uploadInstructions"]["uploadId"]
    lines = [{"info": upload}] + [{"chunk_data": base64.b64encode(data[i:i + 65536]).decode()}
                                  for i in range(0, len(data), 65536)]
    ask("upload", "\n".join(map(json.dumps, lines)))
    ask("markuploadfinished", json.dumps(upload))
else:
    now = datetime.datetime.now(datetime.timezone.utc)
    hour = datetime.timedelta(hours=1)
    query = {"mode": "MODE_MERGE", "reportType": "REPORT_TYPE_PPROF",
             "merge.query": 'process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta{service_name="symbols"}',
             "merge.start": (now - hour).isoformat(), "merge.end": (now + hour).isoformat()}
    found = ask("profiles/query?" + urllib.parse.urlencode(query))
    with open(path, "wb") as file:
        file.write(base64.b64decode(found["pprof"]))
PYTHON
"$cpprof" push --to parca --service symbols "http://127.0.0.1:$port" cpu.pb.gz || fail "no push"
of_parca() { python3 parca.py query "http://127.0.0.1:$port" "$id" parca.pb.gz 2>parca.err; }
wait_until of_parca
! has_names parca.pb.gz || fail "Parca has names of a program that it does not know"
python3 parca.py upload "http://127.0.0.1:$port" "$id" for_parca.debug || fail "no upload"
of_parca || fail "no profile of Parca: $(cat parca.err)"
has_names parca.pb.gz || fail "Parca: $(cat top.txt)"
echo ok
