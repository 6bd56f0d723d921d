#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_last.sh: what a program has done just before its end is pushed by cpprof agent, however the program ends,
# and once; also from a container, if the test may make one. A program that has a place for its files keeps it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"

install -m 755 "$victims/last_words" "$own/last_words"
receive pyroscope taken
server=$url
start_agent --listen 127.0.0.1:0 --push "$server" --to pyroscope --interval 1s --state "$work/state"

# mebibytes SERVICE: what has come of it.
mebibytes() {
    python3 - "$1" <<'SUM'
import json, sys
total = 0
for line in map(json.loads, open("taken/received.jsonl")):
    if "totals" in line and line["labels"].get("service_name") == sys.argv[1]:
        total += sum(n for kind, n in zip(line["types"], line["totals"]) if "alloc_space" in str(kind))
print(total >> 20)
SUM
}

before= # words before the command
# begin SERVICE OPTIONS COMMAND...: starts a program that reads from words.in, and waits until it was told what to do.
begin() {
    service=$1 options=$2
    shift 2
    rm -f words.in
    mkfifo words.in
    $before env LIBPPROF="control,heap:1,thread,$options" OTEL_SERVICE_NAME="$service" LD_PRELOAD="$library" "$@" <words.in >words.out 2>words.err &
    program=$!
    started="$started $program"
    exec 8>words.in
    wait_until has_service
}
has_service() { grep -qs "\"service_name\": \"$service\"" taken/received.jsonl; }
is_whole() { [ "$(mebibytes "$service")" -ge 100 ]; }
end_and_check() {
    expect_equal "before the end of $service" 0 "$(mebibytes "$service")"
    echo >&8
    exec 8>&-
    wait "$program" || true
    wait_until is_whole
    expect_equal "of $service" 100 "$(mebibytes "$service")"
}

for how in return _exit signal; do
    begin "$how" log=/dev/null "$own/last_words" $how
    end_and_check
done
begin exec follow-exec,log=/dev/null "$own/last_words" exec
end_and_check
begin crash crash,log=/dev/null "$own/last_words" crash
end_and_check

# ---- a place of its own ----
begin settled "log=/dev/null,file=$work/own.%k.pb.gz" "$own/last_words" return
echo >&8
exec 8>&-
wait "$program" || true
expect_equal "its own file" 100 "$(($(total alloc_space own.heap.pb.gz) / 1048576))"

# ---- a container: other mounts, other numbers ----
if [ "$(id -u)" = 0 ] && unshare -mpf true 2>/dev/null; then
    before="unshare -mpf --mount-proc"
    begin contained log=/dev/null "$own/last_words" return
    end_and_check
    rmdir "/tmp/cpprof-agent-$(id -u)" 2>/dev/null || true
fi
end_agent
expect_equal "nothing is left" "" "$(find state/last -name '*.pb.gz')"
