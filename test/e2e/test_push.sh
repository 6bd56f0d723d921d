#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_push.sh: `cpprof push` to a receiver that knows what Pyroscope, Parca and OTLP take: which server it is, the names
# of profiles and labels, and the same totals.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/push_receiver.sh
. "$SRC/test/e2e/push_receiver.sh"

for kind in cpu heap block mutex; do
    cp "$SRC/test/golden/go/$kind.pb.gz" .
done

# What is there is asked.
for kind in pyroscope parca; do
    start_receiver "$kind"
    echo "$kind" >"$kind/kinds"
    OTEL_RESOURCE_ATTRIBUTES='deployment.environment=a%20b,service.name=other' \
        "$cpprof" push --service shop --label zone=7 "$url" cpu.pb.gz heap.pb.gz block.pb.gz
    "$cpprof" push --kind mutex "$url" mutex.pb.gz
    stop_receiver
    number=0
    for name in process_cpu memory block mutex; do
        number=$((number + 1))
        expect_equal "$kind: the profile's name" "$name" "$(label __name__ "$kind/$number.json")"
    done
    expect_equal "$kind: the service" shop "$(label service_name $kind/1.json)"
    expect_equal "$kind: an attribute" "a b" "$(label deployment_environment $kind/1.json)"
    expect_equal "$kind: a label" 7 "$(label zone $kind/2.json)"
    expect_equal "$kind: cpu" "$(total cpu cpu.pb.gz)" "$(total cpu $kind/1.pb)"
    for type in alloc_objects alloc_space inuse_objects inuse_space; do
        expect_equal "$kind: $type" "$(total $type heap.pb.gz)" "$(total $type $kind/2.pb)"
    done
    expect_equal "$kind: delay" "$(total delay mutex.pb.gz)" "$(total delay $kind/4.pb)"
    "$cpprof" top -n 10 heap.pb.gz >before
    "$cpprof" top -n 10 "$kind/2.pb" >after
    cmp -s before after || fail "$kind: the functions differ: $(diff before after)"
done

# The URL's path says it, too.
start_receiver path
OTEL_SERVICE_NAME=from_name "$cpprof" push "$url/api/profiles/writeraw" cpu.pb.gz
expect_equal "the path" /api/profiles/writeraw "$(sed 's/ .*//' path/requests)"
expect_equal "OTEL_SERVICE_NAME" from_name "$(label service_name path/1.json)"

# Nothing like that is there.
echo >path/kinds
expect_equal "status where no such server is" 1 "$(status "$cpprof" push --wait 1s "$url" cpu.pb.gz 2>err)"
expect_contains "the complaint" err "the server is none for"
stop_receiver
expect_equal "status where nothing is" 1 "$(status "$cpprof" push --wait 100ms "$url" cpu.pb.gz 2>err)"
expect_contains "the complaint" err "of 1 profiles the server has taken 0"

# Bad words.
for bad in "--to nowhere $url" "ftp://host" "http://" "http://host:port" "http://host/?a=b"; do
    # shellcheck disable=SC2086 # one or more words
    [ "$(status "$cpprof" push $bad cpu.pb.gz 2>err)" != 0 ] || fail "push $bad: no complaint"
done
