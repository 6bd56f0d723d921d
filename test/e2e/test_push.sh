#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_push.sh: `cpprof push` to what takes profiles as Pyroscope, Parca and OTLP do: which server it is, the names of
# profiles and labels, and the same totals and functions.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"

for kind in cpu heap block mutex; do
    cp "$SRC/test/golden/go/$kind.pb.gz" .
done

# What is there is asked.
for server in pyroscope parca otlp; do
    receive "$server" "$server" --any-time
    OTEL_RESOURCE_ATTRIBUTES='deployment.environment=a%20b,service.name=other' \
        "$cpprof" push --service shop --label zone=7 "$url" cpu.pb.gz heap.pb.gz block.pb.gz mutex.pb.gz
    stop_receiver
    case $server in
    otlp) service=service.name environment=deployment.environment ;;
    *)
        service=service_name environment=deployment_environment
        for name in process_cpu memory block mutex; do
            has_received "$server" $name 1 || fail "$server: no $name: $(cat "$server/received.jsonl")"
        done
        ;;
    esac
    last=$(wc -l <"$server/received.jsonl")
    expect_equal "$server: the service" shop "$(sent_label "$server" "$last" $service)"
    expect_equal "$server: an attribute" "a b" "$(sent_label "$server" "$last" $environment)"
    expect_equal "$server: a label" 7 "$(sent_label "$server" "$last" zone)"
    expect_equal "$server: cpu" "$(total cpu cpu.pb.gz)" "$(sent "$server" cpu)"
    for type in alloc_objects alloc_space inuse_objects inuse_space; do
        expect_equal "$server: $type" "$(total $type heap.pb.gz)" "$(sent "$server" $type)"
    done
    expect_equal "$server: delay" $(($(total delay block.pb.gz) + $(total delay mutex.pb.gz))) "$(sent "$server" delay)"
done

# A profile of the program's own may have any name; at each server it has one that can be asked for.
gunzip -c mutex.pb.gz | LC_ALL=C sed 's/contentions/conten.ions/g' >own.pb
for server in pyroscope parca otlp; do
    receive "$server" "own_$server" --any-time
    "$cpprof" push --service shop --kind conten.ions "$url" own.pb
    stop_receiver
    expect_equal "$server: a name with a dot" "$(total contentions mutex.pb.gz)" "$(sent "own_$server" conten_ions)"
done

# What Pyroscope has is the whole profile.
number=$(python3 -c 'import json
for number, line in enumerate(open("pyroscope/received.jsonl"), 1):
    if json.loads(line).get("labels", {}).get("__name__") == "memory":
        print(number)')
"$cpprof" top -n 20 heap.pb.gz | tail -n +3 >before
"$cpprof" top -n 20 "pyroscope/$number.pb" | tail -n +3 >after
cmp -s before after || fail "the functions differ: $(diff before after)"

# The URL's path says what is there, too. Without a name the service is the program.
receive parca path --any-time
OTEL_SERVICE_NAME=from_name "$cpprof" push "$url/api/profiles/writeraw" cpu.pb.gz
expect_equal "requests" 1 "$(wc -l <path/received.jsonl)"
expect_equal "OTEL_SERVICE_NAME" from_name "$(sent_label path 1 service_name)"
"$cpprof" push --to parca --kind odd.kind "$url" cpu.pb.gz
expect_equal "a kind" odd_kind "$(sent_label path 2 __name__)"

# Types that two kinds have: the word in the file's name counts.
cp heap.pb.gz speaker.7.peak.pb.gz
cp heap.pb.gz speaker.heap.pb.gz
cp block.pb.gz mutex_test.block.pb.gz
"$cpprof" push --to parca "$url" speaker.7.peak.pb.gz speaker.heap.pb.gz mutex_test.block.pb.gz
expect_equal "kinds by names" "peak memory block" "$(for line in 3 4 5; do sent_label path $line __name__; done | paste -s -d ' ')"

# Nothing like that is there.
expect_equal "status of another path" 1 "$(status "$cpprof" push --wait 1s "$url/elsewhere" cpu.pb.gz 2>err)"
expect_contains "the complaint" err "the server is none for"
stop_receiver
expect_equal "status where nothing is" 1 "$(status "$cpprof" push --wait 100ms "$url" cpu.pb.gz 2>err)"
expect_contains "the complaint" err "1 of the profiles were not sent"

# Bad words.
for bad in "--to nowhere $url" "ftp://host" "http://" "http://host:port" "http://host/?a=b" "--label x $url"; do
    # shellcheck disable=SC2086 # one or more words
    [ "$(status "$cpprof" push --wait 10ms $bad cpu.pb.gz 2>err)" != 0 ] || fail "push $bad: no complaint"
done
