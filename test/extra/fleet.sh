#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fleet.sh: `cpprof push` sends a profile of each kind to a Pyroscope and a Parca, which are asked for them again: totals to the
# unit, the ten functions that have most, by labels. Not part of ./test.sh: few machines have these servers.
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
    printf 'object_storage: {bucket: {type: FILESYSTEM, config: {directory: %s/parca}}}\n' "$work" >parca.yaml
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
# A custom profile whose type has a dot is one that Parca refuses; see docs/FLEET.md.
"$BUILD/examples/connections" connections.pb.gz >connections.log || fail "connections: $(cat connections.log)"
kinds="cpu=process_cpu wall=wall heap=memory block=block mutex=mutex thread=thread leak=leak fd=fd"

# ---- there and back ----

compare() { # BACKEND URL MORE_KINDS
    python3 "$fleet/query.py" "$1" "$2" ready || fail "$1: $(tail -n 5 "$1.log")"
    sent=
    for kind in $kinds $3; do
        file=${kind%%=*}.pb.gz
        "$BUILD/bin/cpprof" push --to "$1" --service "fleet" --label host.name=one --kind "${kind%%=*}" "$2" "$file" >push.log 2>&1 ||
            fail "push of $file to $1: $(cat push.log)"
        sent="$sent ${kind#*=}=$file"
    done
    # shellcheck disable=SC2086
    python3 "$fleet/query.py" "$1" "$2" '{service_name="fleet",host_name="one"}' $sent >"$1.compared" || fail "$1: $(cat "$1.compared")"
    cat "$1.compared"
}
[ -z "$(server pyroscope)" ] || compare pyroscope "$pyroscope" connections=connections
[ -z "$(server parca)" ] || compare parca "$parca" ""
echo ok
