#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fleet.sh: `cpprof push` sends a profile of each kind to a Pyroscope and a Parca, which are asked for them again: totals to the
# unit, the ten functions that have most, by labels. A process with push= sends deltas, which add up to its files, and so does the agent, which
# also sends last profiles of each kind; Parca scrapes a program through it. OTLP goes to Pyroscope and to the Collector. Not part of ./test.sh: few machines have these servers.
#
#   BUILD=$PWD/build/release SRC=$PWD [PYROSCOPE=/path/to/pyroscope] [PARCA=/path/to/parca] sh test/extra/fleet.sh
#
# Needs one of the servers, and python3. Takes two minutes, of which Pyroscope is not ready for the first half.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
need python3
"$BUILD/bin/cpprof" push --help >help 2>&1 || skip "this cpprof has no push"
"$SRC/tools/fleet-servers" "$work/cache" >servers || skip "no server"
server() { sed -n "s/^$1 //p" servers; }
[ -n "$(server pyroscope)$(server parca)" ] || skip "no Pyroscope and no Parca"

# ---- the servers, on ports that nobody has ----

ports() { python3 -c 'import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
print(*(one.getsockname()[1] for one in sockets))'; }
start_pyroscope() {
    # shellcheck disable=SC2046
    set -- $(ports)
    pyroscope=http://127.0.0.1:$1
    program=$(server pyroscope)
    mkdir pyroscope
    (cd pyroscope && exec "$program" -architecture.storage=v2 -self-profiling.disable-push -usage-stats.enabled=false \
        -tracing.enabled=false -server.http-listen-address=127.0.0.1 -server.http-listen-port="$1" \
        -server.grpc-listen-address=127.0.0.1 -server.grpc-listen-port="$2" -memberlist.bind-addr=127.0.0.1 \
        -memberlist.bind-port="$3" -memberlist.advertise-addr=127.0.0.1 -metastore.raft.bind-address="127.0.0.1:$4" \
        -metastore.raft.advertise-address="127.0.0.1:$4" -metastore.address="127.0.0.1:$2" \
        -query-backend.address="127.0.0.1:$2" -distributor.ring.instance-addr=127.0.0.1 \
        -query-frontend.instance-addr=127.0.0.1 -overrides-exporter.ring.instance-addr=127.0.0.1 \
        -segment-writer.lifecycler.addr=127.0.0.1) >pyroscope.log 2>&1 &
    started="$started $!"
}
start_parca() {
    # shellcheck disable=SC2046
    set -- $(ports)
    parca=http://127.0.0.1:$1
    mkdir parca
    served=127.0.0.1:$2 # where the agent will serve what Parca scrapes
    cat >parca.yaml <<EOF
object_storage: {bucket: {type: FILESYSTEM, config: {directory: $work/parca}}}
scrape_configs: [{job_name: scraped, scrape_interval: 2s, scrape_timeout: 4s, http_sd_configs: [{url: "http://$served/targets", refresh_interval: 2s}]}]
EOF
    "$(server parca)" --config-path=parca.yaml --http-address="127.0.0.1:$1" --storage-active-memory=268435456 \
        --debuginfod-upstream-servers= --profile-share-server=127.0.0.1:9 --debuginfo-cache-dir="$work/parca" >parca.log 2>&1 &
    started="$started $!"
}
[ -z "$(server pyroscope)" ] || start_pyroscope
[ -z "$(server parca)" ] || start_parca

# ---- a profile of each kind ----

preload "cpu:1000,wall:1000,file=$work/%k.pb.gz" "$victims/shares" >shares.log
preload "block,mutex,thread,file=$work/%k.pb.gz" "$victims/contention" 200 >contention.log
preload "heap:1k,file=$work/%k.pb.gz" "$victims/heap" shares >heap.log
preload "leak:1,file=$work/%k.pb.gz" "$victims/leaks" >leaks.log
preload "fd,file=$work/%k.pb.gz" "$victims/fds" >fds.log
# A custom profile whose type has a dot: Parca refuses it.
"$BUILD/examples/connections" connections.pb.gz >connections.log || fail "connections: $(cat connections.log)"
kinds="cpu=process_cpu wall=wall heap=memory block=block mutex=mutex thread=goroutine leak=leak fd=fd"

# ---- there and back ----

compare() { # BACKEND URL MORE_KINDS
    python3 "$fleet/query.py" "$1" "$2" ready || fail "$1: $(tail -n 5 "$1.log")"
    sent=
    for kind in $kinds $3; do
        file=${kind%%=*}.pb.gz
        "$BUILD/bin/cpprof" push --to "$1" --service "fleet" --label host.name=one "$2" "$file" >push.log 2>&1 ||
            fail "push of $file to $1: $(cat push.log)"
        sent="$sent ${kind#*=}=$file"
    done
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" '{service_name="fleet",host_name="one"}' $sent >"$1.compared" || fail "$1: $(cat "$1.compared")"
    cat "$1.compared"
}
# A process that sends by itself, as deltas: they add up to the files that it writes at its end.
by_itself() { # BACKEND URL
    preload "heap:1k,block,mutex,push=$2,push-to=$1,service=own,interval=1s,file=$work/own.%k.pb.gz" \
        "$victims/contention" 1000 >own.log 2>own.err || fail "push=: $(cat own.err)"
    ! grep -q -e lost -e "nothing is sent" own.err || fail "push=: $(cat own.err)"
    python3 "$fleet/query.py" "$1" "$2" '{service_name="own"}' memory=own.heap.pb.gz@alloc_ \
        block=own.block.pb.gz@ mutex=own.mutex.pb.gz@ >"$1.own" || fail "$1, push=: $(cat "$1.own")"
    cat "$1.own"
}

# OTLP: Pyroscope names profiles by the types of their periods. The Collector prints what it gets.
otlp_to_pyroscope() {
    sent=
    for kind in heap=space block=contentions wall=wall fd=fd leak=space; do
        file=${kind%%=*}.pb.gz
        "$BUILD/bin/cpprof" push --to otlp --service otlp "$pyroscope" "$file" >push.log 2>&1 ||
            fail "push of $file by OTLP: $(cat push.log)"
        sent="$sent ${kind#*=}=$file"
    done
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" pyroscope "$pyroscope" '{service_name="otlp"}' $sent >otlp.compared || fail "OTLP: $(cat otlp.compared)"
    cat otlp.compared
}
otlp_to_collector() {
    # shellcheck disable=SC2046
    set -- $(ports)
    cat >collector.yaml <<EOF
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$1"}}}}
exporters: {debug: {verbosity: detailed}}
service: {telemetry: {metrics: {level: none}}, pipelines: {profiles: {receivers: [otlp], exporters: [debug]}}}
EOF
    "$(server otelcol)" --config=file:collector.yaml --feature-gates=service.profilesSupport >collector.log 2>&1 &
    started="$started $!"
    wait_until has_text collector.log "Everything is ready"
    "$BUILD/bin/cpprof" push --service otlp --kind fd "http://127.0.0.1:$1" fd.pb.gz >push.log 2>&1 ||
        fail "push to the Collector: $(cat push.log)"
    values() { sed -n 's/^ *Values*: \[*\([0-9]*\)\]*$/\1/p' collector.log | awk '{ sum += $1 } END { print sum + 0 }'; }
    has_all() { [ "$(values)" = "$(awk '/^fd:fd:count/ { print $2; exit }' ./*.compared)" ]; }
    wait_until has_all
    has_text collector.log "otlp" || fail "no service: $(cat collector.log)"
    echo "collector fd $(values)"
}

# ---- the agent ----

mkdir -m 700 run
mkdir -m 755 own
install -m 755 "$victims/push_work" own/push_work
export XDG_RUNTIME_DIR="$work/run"
agent_begins() { # OPTIONS...
    "$BUILD/bin/cpprof" agent --only "^$work/own/" --state "$work/state" "$@" >agent.out 2>>agent.err &
    agent=$!
    started="$started $agent"
}
agent_ends() {
    kill "$agent"
    wait "$agent" || fail "the agent: $(cat agent.err)"
}
# guest_begins OPTIONS SERVICE: a program that works for each byte of descriptor 9.
guest_begins() {
    worked=0
    guest env LIBPPROF="control,$1" OTEL_SERVICE_NAME="$2" LD_PRELOAD="$library" "$work/own/push_work"
    guest_works
}
guest_works() {
    printf x >&9
    worked=$((worked + 1))
    wait_until has_worked
}
has_worked() { [ "$(grep -c worked guest.out)" -ge "$worked" ]; }
last=$work/state/last/$(id -u)
# Last profiles that no agent has seen come; each kind to the unit.
last_profiles() { # BACKEND URL
    mkdir -p "$last"
    sent=
    for kind in $kinds; do
        cp "${kind%%=*}.pb.gz" "$last/4000000-1-${kind%%=*}-ended_$1.pb.gz"
        case $kind in
        thread=* | fd=* | leak=*) sent="$sent ${kind#*=}=${kind%%=*}.pb.gz" ;;
        *) sent="$sent ${kind#*=}=${kind%%=*}.pb.gz@" ;;
        esac
    done
    chmod 711 state state/last
    agent_begins --push "$2" --to "$1" --interval 1s
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"ended_$1\"}" $sent >"$1.last" || fail "$1, last profiles: $(cat "$1.last" agent.err)"
    sed 's/^/last /' "$1.last"
    agent_ends
}
# What the agent takes of a program adds up to its last profiles.
by_agent() { # BACKEND URL
    guest_begins "cpu:1000,wall,heap:1,block:1,mutex:1,thread,fd" "agent_$1"
    agent_begins --push "$2" --to "$1" --interval 1s
    for _ in 1 2 3; do
        guest_works
        sleep 1.5 # a round
    done
    agent_ends
    ends_with 0 "$guest"
    cp -r "$last" "truth_$1"
    agent_begins --push "$2" --to "$1" --interval 1s
    set -- "$1" "$2" truth_"$1"/*-cpu-* truth_"$1"/*-wall-* truth_"$1"/*-heap-* truth_"$1"/*-block-* truth_"$1"/*-mutex-*
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"agent_$1\"}" "process_cpu=$3@" "wall=$4@" "memory=$5@alloc_" "block=$6@" "mutex=$7@" >"$1.agent" ||
        fail "$1, agent: $(cat "$1.agent" agent.err)"
    sed 's/^/agent /' "$1.agent"
    agent_ends
}
# What does not change while Parca scrapes it is there several times.
scraped() {
    guest_begins heap:1,block:1,mutex:1 scraped
    agent_begins --listen "$served"
    ask() { python3 "$SRC/test/e2e/http/ask.py" "http://$served/$guest/debug/pprof/$1" -o "now.$1.pb.gz" >ask.log 2>&1; }
    has_it() { ask heap && grep -qx 200 ask.log; }
    wait_until has_it
    ask block
    ask mutex
    python3 "$fleet/query.py" parca "$parca" '{service_name="scraped"}' "memory=now.heap.pb.gz*" "block=now.block.pb.gz*" "mutex=now.mutex.pb.gz*" \
        >parca.scraped || fail "Parca, scraped: $(cat parca.scraped; tail -n 20 parca.log)"
    sed 's/^/scraped /' parca.scraped
    agent_ends
    ends_with 0 "$guest"
}

[ -z "$(server pyroscope)" ] || compare pyroscope "$pyroscope" connections=example_connections
[ -z "$(server parca)" ] || compare parca "$parca" ""
[ -z "$(server pyroscope)" ] || by_itself pyroscope "$pyroscope"
[ -z "$(server parca)" ] || by_itself parca "$parca"
for backend in pyroscope parca; do
    [ -n "$(server $backend)" ] || continue
    eval "url=\$$backend"
    last_profiles $backend "$url"
    by_agent $backend "$url"
done
[ -z "$(server parca)" ] || scraped
[ -z "$(server pyroscope)" ] || otlp_to_pyroscope
[ -z "$(server otelcol)" ] || otlp_to_collector
echo ok
