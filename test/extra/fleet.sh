#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fleet.sh: profiles of each kind come to a Pyroscope and a Parca, which are asked for them again: totals to the unit, the ten functions that
# have most, by labels. They come by `cpprof push`; of a process with push=; of the agent, also last profiles, and while agent, server and program
# begin anew; scraped through the agent, by Parca and by Alloy for Pyroscope; pushed to Alloy; by OTLP to Pyroscope and the Collector. What only
# exists on the way (a scraped CPU profile, a difference) is kept by a recorder (fleet/recorder.py). Not part of ./test.sh: few machines have these servers.
#
#   BUILD=$PWD/build/release SRC=$PWD [PYROSCOPE=/path/to/pyroscope] [PARCA=/path/to/parca] [ALLOY=/path/to/alloy] sh test/extra/fleet.sh
#
# Needs Pyroscope or Parca, and python3. Takes five minutes, of which Pyroscope is not ready in two; more on a busy machine.
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
# record NAME ADDRESS: $recorded stands before ADDRESS and keeps in got_NAME what a collector gets, or what a server takes.
record() {
    mkdir "got_$1"
    python3 "$fleet/recorder.py" "$2" "got_$1" >"$1.port" 2>"$1.recorder" &
    started="$started $!"
    wait_until has_text "$1.port" "port "
    recorded=http://127.0.0.1:$(sed -n 's/^port //p' "$1.port")
}
all() { # NAME PROFILE [FIRST]: the files got_NAME/PROFILE.FIRST and later, with commas
    at=${3-1} list=
    while [ -e "got_$1/$2.$at" ]; do
        list=$list${list:+,}got_$1/$2.$at
        at=$((at + 1))
    done
    echo "$list"
}
all_of() { # NAME PROFILE...: PROFILE=FILES for each
    of=$1
    shift
    for one in "$@"; do
        list=$(all "$of" "$one")
        [ -n "$list" ] || fail "$of: there is no $one"
        echo "$one=$list"
    done
}
start_pyroscope() {
    # shellcheck disable=SC2046
    set -- $(ports)
    pyroscope=http://127.0.0.1:$1 pyroscope_ports=$*
    mkdir pyroscope
    run_pyroscope
}
run_pyroscope() {
    # shellcheck disable=SC2086
    set -- $pyroscope_ports
    program=$(server pyroscope)
    (cd pyroscope && exec "$program" -architecture.storage=v2 -self-profiling.disable-push -usage-stats.enabled=false \
        -tracing.enabled=false -server.http-listen-address=127.0.0.1 -server.http-listen-port="$1" \
        -server.grpc-listen-address=127.0.0.1 -server.grpc-listen-port="$2" -memberlist.bind-addr=127.0.0.1 \
        -memberlist.bind-port="$3" -memberlist.advertise-addr=127.0.0.1 -metastore.raft.bind-address="127.0.0.1:$4" \
        -metastore.raft.advertise-address="127.0.0.1:$4" -metastore.address="127.0.0.1:$2" \
        -query-backend.address="127.0.0.1:$2" -distributor.ring.instance-addr=127.0.0.1 \
        -query-frontend.instance-addr=127.0.0.1 -overrides-exporter.ring.instance-addr=127.0.0.1 \
        -segment-writer.lifecycler.addr=127.0.0.1) >>pyroscope.log 2>&1 9>&- &
    pyroscope_process=$!
    started="$started $!"
}
start_parca() {
    # shellcheck disable=SC2046
    set -- $(ports)
    parca=http://127.0.0.1:$1
    mkdir parca
    parca_served=127.0.0.1:$2 # where the agent will serve what Parca scrapes
    record parca "$parca_served"
    parca_recorder=$recorded
    # Its default targets, and the kinds that it does not know.
    cat >parca.yaml <<EOF
object_storage: {bucket: {type: FILESYSTEM, config: {directory: $work/parca}}}
scrape_configs:
  - job_name: scraped
    scrape_interval: 2s
    scrape_timeout: 60s
    http_sd_configs: [{url: "$recorded/targets", refresh_interval: 2s}]
    profiling_config:
      pprof_config:
        wall: {enabled: true, delta: true, path: /debug/pprof/wall}
        lifetime: {enabled: true, path: /debug/pprof/lifetime}
        leak: {enabled: true, path: /debug/pprof/leak}
        fd: {enabled: true, path: /debug/pprof/fd}
        peak: {enabled: true, path: /debug/pprof/peak}
        process_memory: {enabled: true, path: /debug/pprof/memory}
        kept_blocks: {enabled: true, path: /debug/pprof/kept_blocks}
EOF
    "$(server parca)" --config-path=parca.yaml --http-address="127.0.0.1:$1" --storage-active-memory=268435456 \
        --debuginfod-upstream-servers= --profile-share-server=127.0.0.1:9 --debuginfo-cache-dir="$work/parca" >parca.log 2>&1 &
    started="$started $!"
}
# Before Pyroscope: it takes what is pushed, and scrapes.
start_alloy() {
    # shellcheck disable=SC2046
    set -- $(ports)
    alloy=http://127.0.0.1:$1
    mkdir alloy
    alloy_served=127.0.0.1:$3
    record alloy "$alloy_served"
    alloy_recorder=$recorded
    cat >alloy.alloy <<EOF
pyroscope.write "pyroscope" { endpoint { url = "$pyroscope" } }
pyroscope.receive_http "pushed" {
  http {
    listen_address = "127.0.0.1"
    listen_port = $1
  }
  forward_to = [pyroscope.write.pyroscope.receiver]
}
discovery.http "agent" {
  url = "$recorded/targets"
  refresh_interval = "2s"
}
pyroscope.scrape "agent" {
  targets = discovery.http.agent.targets
  forward_to = [pyroscope.write.pyroscope.receiver]
  scrape_interval = "3s"
  scrape_timeout = "60s"
  delta_profiling_duration = "2s"
  profiling_config {
    profile.block { enabled = false }
    profile.mutex { enabled = false }
    profile.godeltaprof_block { enabled = true }
    profile.godeltaprof_mutex { enabled = true }
$(for name in wall lifetime leak fd peak process_memory kept_blocks; do
    printf '    profile.custom "%s" {\n      enabled = true\n      path = "/debug/pprof/%s"\n      delta = %s\n    }\n' \
        $name ${name#process_} "$([ $name = wall ] && echo true || echo false)"
done)
  }
}
EOF
    "$(server alloy)" run --disable-reporting --server.http.listen-addr="127.0.0.1:$2" --storage.path=alloy alloy.alloy >alloy.log 2>&1 &
    started="$started $!"
}
[ -z "$(server pyroscope)" ] || start_pyroscope
[ -z "$(server parca)" ] || start_parca
[ -z "$(server pyroscope)" ] || [ -z "$(server alloy)" ] || start_alloy

# ---- a profile of each kind ----

preload "cpu:1000,wall:1000,file=$work/%k.pb.gz" "$victims/shares" >shares.log
preload "block,mutex,thread,file=$work/%k.pb.gz" "$victims/contention" 200 >contention.log
# Before the heap, whose file it writes, too.
preload "leak:1,lifetime:1,peak,file=$work/%k.pb.gz" "$victims/leaks" >leaks.log
preload "heap:1k,memory,file=$work/%k.pb.gz" "$victims/heap" shares >heap.log
preload "fd,file=$work/%k.pb.gz" "$victims/fds" >fds.log
# A profile of the program's own, whose type has a dot.
"$BUILD/examples/connections" connections.pb.gz >connections.log || fail "connections: $(cat connections.log)"
kinds="cpu=process_cpu wall=wall heap=memory block=block mutex=mutex thread=goroutine leak=leak lifetime=lifetime peak=peak memory=process_memory fd=fd"

# ---- there and back ----

compare() { # BACKEND URL [OF_ALLOY]
    python3 "$fleet/query.py" "$1" "$2" ready || fail "$1: $(tail -n 5 "$1.log")"
    sent='' service=fleet${3:+_alloy}
    for kind in $kinds connections=example_connections; do
        file=${kind%%=*}.pb.gz
        "$BUILD/bin/cpprof" push --to "$1" --service "$service" --label host.name=one "${3:-$2}" "$file" >push.log 2>&1 ||
            fail "push of $file to $1: $(cat push.log)"
        sent="$sent ${kind#*=}=$file"
    done
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"$service\",host_name=\"one\"}" $sent >"$1.compared" || fail "$1: $(cat "$1.compared")"
    cat "$1.compared"
}
# OTLP: Pyroscope names profiles by the types of their periods, which several kinds have: each is a service of its own. It shows the
# samples of cpu as time.
otlp_to_pyroscope() {
    for kind in cpu=process_cpu cpu=cpu wall=wall heap=space block=contentions mutex=contentions thread=goroutine leak=space lifetime=space \
        peak=space memory=space fd=fd connections=example_connections; do
        file=${kind%%=*}.pb.gz only=
        [ "${kind%%=*}" != cpu ] || only=@cpu
        service=otlp_${kind%%=*}
        [ $kind = cpu=cpu ] || "$BUILD/bin/cpprof" push --to otlp --service "$service" "$pyroscope" "$file" >push.log 2>&1 ||
            fail "push of $file by OTLP: $(cat push.log)"
        python3 "$fleet/query.py" pyroscope "$pyroscope" "{service_name=\"$service\"}" "${kind#*=}=$file$only" >otlp.compared ||
            fail "OTLP: $file: $(cat otlp.compared)"
        sed "s/^/OTLP $file /" otlp.compared
    done
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

# ---- a program, and the agent ----

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
    guest env LIBPPROF="control,$1" OTEL_SERVICE_NAME="$2" LD_PRELOAD="$library" "$work/own/push_work" custom
    guest_works
}
guest_works() {
    printf x >&9
    worked=$((worked + 1))
    wait_until has_worked
}
works_on() {
    for _ in 1 2 3; do
        guest_works
        sleep 1.5 # an interval
    done
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
        thread=* | fd=* | leak=* | lifetime=* | peak=* | memory=*) sent="$sent ${kind#*=}=${kind%%=*}.pb.gz" ;;
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
# A process that sends by itself: the server has what it took, and the differences add up to the files that the process writes at its end.
by_itself() { # BACKEND URL
    record "own_$1" "${2#http://}"
    guest_begins "cpu:1000,wall,heap:1,lifetime,peak,leak,memory,block:1,mutex:1,thread,fd,push=$recorded,push-to=$1,interval=1s,file=$work/own_$1.%k.pb.gz" "own_$1"
    works_on
    ends_with 0 "$guest"
    ! grep -q -e lost -e "nothing is sent" guest.err || fail "push=: $(cat guest.err)"
    files=$(all_of "own_$1" process_cpu wall memory lifetime peak leak process_memory block mutex goroutine fd kept_blocks)
    set -- "$1" "$2" "own_$1."
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"own_$1\"}" "memory=$3heap.pb.gz@alloc_" "lifetime=$3lifetime.pb.gz@" \
        "block=$3block.pb.gz@" "mutex=$3mutex.pb.gz@" $files >"$1.own" || fail "$1, push=: $(cat "$1.own")"
    sed 's/^/push= /' "$1.own"
}
# What the agent takes of a program: the server has what it took, and the differences add up to the program's last profiles.
by_agent() { # BACKEND URL
    record "agent_$1" "${2#http://}"
    guest_begins "cpu:1000,wall,heap:1,block:1,mutex:1,thread,fd" "agent_$1"
    agent_begins --push "$recorded" --to "$1" --interval 1s
    works_on
    agent_ends
    ends_with 0 "$guest"
    cp -r "$last" "truth_$1"
    agent_begins --push "$recorded" --to "$1" --interval 1s
    set -- "$1" "$2" truth_"$1"/*-cpu-* truth_"$1"/*-wall-* truth_"$1"/*-heap-* truth_"$1"/*-block-* truth_"$1"/*-mutex-*
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"agent_$1\"}" "process_cpu=$3@" "wall=$4@" "memory=$5@alloc_" "block=$6@" "mutex=$7@" >"$1.agent" ||
        fail "$1, agent: $(cat "$1.agent" agent.err)"
    agent_ends
    files=$(all_of "agent_$1" process_cpu wall memory block mutex goroutine fd kept_blocks)
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" "{service_name=\"agent_$1\",process_executable_name=\"push_work\"}" $files >>"$1.agent" || fail "$1, agent: $(cat "$1.agent" agent.err)"
    sed 's/^/agent /' "$1.agent"
}
# The agent, the server and the program end and begin anew: what the server has adds up to the last profiles of both programs.
begins_anew() {
    guest_begins "cpu:1000,wall,heap:1,block:1,mutex:1" anew
    pushing_agent
    works_on
    agent_ends
    guest_works # without an agent
    pushing_agent
    works_on
    kill "$pyroscope_process"
    wait "$pyroscope_process" || true
    works_on # without a server
    agent_ends
    pushing_agent
    run_pyroscope
    python3 "$fleet/query.py" pyroscope "$pyroscope" ready || fail "Pyroscope, anew: $(tail -n 5 pyroscope.log)"
    works_on
    ends_without_agent
    guest_begins "cpu:1000,wall,heap:1,block:1,mutex:1" anew
    works_on
    ends_without_agent
    truth() { echo "$2=$(find truth_anew -name "*-$1-*" | paste -s -d ,)@${3-}"; }
    python3 "$fleet/query.py" pyroscope "$pyroscope" '{service_name="anew"}' "$(truth cpu process_cpu)" "$(truth wall wall)" \
        "$(truth heap memory alloc_)" "$(truth block block)" "$(truth mutex mutex)" >anew.compared ||
        fail "anew: $(cat anew.compared agent.err)"
    sed 's/^/anew /' anew.compared
    agent_ends
}
pushing_agent() { agent_begins --push "$pyroscope" --to pyroscope --interval 1s; }
ends_without_agent() {
    agent_ends
    ends_with 0 "$guest"
    mkdir -p truth_anew
    cp "$last"/* truth_anew
    pushing_agent
}
# The agent serves a program, and a collector gets each of its profiles several times while it works: the server has all that the collector got.
scraped() { # COLLECTOR SERVED RECORDER NAMES...
    collector=$1 served=$2 recorder=$3
    shift 3
    guest_begins heap:1,peak,memory,block:1,mutex:1,thread,fd "scraped_$collector"
    agent_begins --listen "$served"
    got_all() {
        guest_works
        for name in "$@"; do
            [ -e "got_$collector/$name.3" ] || return 1
        done
    }
    wait_until got_all "$@"
    python3 "$SRC/test/e2e/http/ask.py" -X POST "$recorder/-/stop" >ask.log
    agent_ends
    ends_with 0 "$guest"
}
scraped_by_parca() {
    scraped parca "$parca_served" "$parca_recorder" profile wall allocs lifetime block mutex goroutine leak fd peak memory kept_blocks
    files=$(all_of parca wall lifetime block mutex goroutine leak fd peak kept_blocks)
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" parca "$parca" '{service_name="scraped_parca",process_executable_name="push_work"}' \
        process_cpu="$(all parca profile)" memory="$(all parca allocs)" process_memory="$(all parca memory)" $files >parca.scraped ||
        fail "Parca, scraped: $(cat parca.scraped; tail parca.log)"
    sed 's/^/scraped /' parca.scraped
}
# Of memory Alloy sends what is new since the first time. It would do so with block and mutex, too, and count waits twice that it sees going on: the
# program's own differences are right.
scraped_by_alloy() {
    scraped alloy "$alloy_served" "$alloy_recorder" profile wall allocs lifetime delta_block delta_mutex goroutine leak fd peak memory kept_blocks
    files=$(all_of alloy wall lifetime goroutine leak fd peak kept_blocks)
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" pyroscope "$pyroscope" '{service_name="scraped_alloy",process_executable_name="push_work"}' \
        process_cpu="$(all alloy profile)" memory="$(all alloy allocs | sed 's/.*,//'),-got_alloy/allocs.1@alloc_" \
        memory="$(all alloy allocs 2)@inuse_" process_memory="$(all alloy memory)" block="$(all alloy delta_block)" mutex="$(all alloy delta_mutex)" \
        $files >alloy.scraped || fail "Alloy, scraped: $(cat alloy.scraped; grep -v stopped alloy.log | tail)"
    sed 's/^/scraped by Alloy /' alloy.scraped
}

[ -z "$(server pyroscope)" ] || compare pyroscope "$pyroscope"
[ -z "$(server parca)" ] || compare parca "$parca"
[ -z "$(server pyroscope)" ] || by_itself pyroscope "$pyroscope"
[ -z "$(server parca)" ] || by_itself parca "$parca"
for backend in pyroscope parca; do
    [ -n "$(server $backend)" ] || continue
    eval "url=\$$backend"
    last_profiles $backend "$url"
    by_agent $backend "$url"
done
[ -z "$(server pyroscope)" ] || begins_anew
[ -z "$(server parca)" ] || scraped_by_parca
if [ -n "$(server pyroscope)" ] && [ -n "$(server alloy)" ]; then
    compare pyroscope "$pyroscope" "$alloy"
    scraped_by_alloy
fi
[ -z "$(server pyroscope)" ] || otlp_to_pyroscope
[ -z "$(server otelcol)" ] || otlp_to_collector
echo ok
