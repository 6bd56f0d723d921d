#!/bin/sh
# SPDX-License-Identifier: MIT
#
# agent: `cpprof agent` with many small processes, which record cpu, heap, block, mutex and thread, each 15 s.
#
#   cpu      of one processor
#   memory   at most, resident

set -eu

case $BENCH in
quick) processes=50 seconds=30 ;;
*) processes=200 seconds=60 ;;
esac
cpprof=${LIBRARY%/lib/*}/bin/cpprof

mkdir -m 700 "$WORK/run" "$WORK/own"
state=$(mktemp -d -p /dev/shm)
install -m 755 "$PROGRAMS/agent_guest" "$WORK/own/guest"
export XDG_RUNTIME_DIR="$WORK/run"
started=
trap 'kill -KILL $started 2>/dev/null || true; rm -rf "$state"' EXIT
python3 "$(dirname "$0")/agent_sink.py" "$WORK/port" &
started="$started $!"
mkfifo "$WORK/in"
process=0
while [ $process -lt $processes ]; do
    LIBPPROF=control,heap:64k,block,mutex,thread LD_PRELOAD=$LIBRARY "$WORK/own/guest" <"$WORK/in" \
        2>"$WORK/guest.err" &
    started="$started $!"
    process=$((process + 1))
done
exec 9>"$WORK/in"
while [ ! -e "$WORK/port" ]; do
    sleep 0.1
done
"$cpprof" agent --only "^$WORK/own/" --push "http://127.0.0.1:$(cat "$WORK/port")" --to pyroscope \
    --state "$state" --listen "unix:$WORK/agent.sock" >"$WORK/agent.out" &
agent=$!
started="$started $agent"

ticks() { sed 's/.*) //' "/proc/$agent/stat" | awk '{ print $12 + $13 }'; }
sleep 20 # the first round of each
before=$(ticks)
sleep "$seconds"
after=$(ticks)
awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" -v seconds="$seconds" -v processes="$processes" \
    'BEGIN { printf "agent.cpu_%d.pprof %.2f %%\n", processes, 100 * ticks / hz / seconds }'
awk -v processes="$processes" '/^VmHWM:/ { printf "agent.memory_%d.pprof %.1f MB\n", processes, $2 / 1000 }' \
    "/proc/$agent/status"
