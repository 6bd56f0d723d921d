#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dump: `cpprof dump` of a process with a thousand threads that wait, beside gdb and eu-stack (pstack is a
# script that calls one of them).
#
#   time           milliseconds from start to end
#   speedup_to     how many times as long a peer takes
#   rss            megabytes of maximum resident set
#   longest_stop   milliseconds between two awakenings of a thread of the process that sleeps 1 ms again and again,
#                  while its stacks are read

set -eu

threads=1000
rounds=10
[ "$BENCH" != quick ] || rounds=4
cpprof=${LIBRARY%/lib/*}/bin/cpprof

"$PROGRAMS/blocked_threads" $threads >"$WORK/blocked" &
process=$!
until grep -q ready "$WORK/blocked"; do sleep 0.1; done

# The commands, without what they print; scripts, so that they are one word.
command_of() { # NAME COMMAND...
    command_name=$WORK/dump_$1
    shift
    printf '#!/bin/sh\nexec %s >/dev/null 2>&1\n' "$*" >"$command_name"
    chmod +x "$command_name"
}
command_of pprof "$cpprof" dump -p $process
command_of eu_stack eu-stack -s -p $process
command_of gdb gdb -p $process -batch -ex "'thread apply all backtrace'"

set -- none /bin/true -- pprof "$WORK/dump_pprof"
peers=pprof
for peer in gdb eu_stack; do
    if command -v "$(echo $peer | tr _ -)" >/dev/null; then
        set -- "$@" -- $peer "$WORK/dump_$peer"
        peers="$peers $peer"
    else
        echo "# not installed: $(echo $peer | tr _ -)"
    fi
done
"$PROGRAMS/pairs" -n $rounds -w 1 -m ms,rss "$@" | awk '{
    split($1, part, ".")
    printf "dump.%s.%s %s %s # %s .. %s\n", part[2] == "ms" ? "time" : part[2], part[1], $2, $3, $4, $5
    if (part[2] == "ms") time[part[1]] = $2
}
END {
    for (peer in time)
        if (peer != "pprof") printf "dump.speedup_to_%s.pprof %.1f x\n", peer, time[peer] / time["pprof"]
}'
kill -TERM $process
wait $process || true

for peer in $peers; do
    "$PROGRAMS/blocked_threads" $threads >"$WORK/blocked" &
    process=$!
    until grep -q ready "$WORK/blocked"; do sleep 0.1; done
    sed -i "s/-p [0-9]*/-p $process/" "$WORK/dump_$peer"
    sleep 0.5
    kill -USR1 $process
    "$WORK/dump_$peer"
    kill -TERM $process
    wait $process || true
    echo "dump.longest_stop.$peer $(tail -n 1 "$WORK/blocked") ms"
done
