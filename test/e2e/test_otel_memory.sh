#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_otel_memory.sh: tracers see samples of the heap by the probes otel_memory:alloc and otel_memory:free: gdb, the kernel
# (uprobes, as root), and a reader of the notes (otel/probes.py). Weights add up to what the heap profile says.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3 readelf go
probed=$victims/probed
unset DEBUGINFOD_URLS # gdb would ask whether to use it

# ---- the notes ----

probes() { PYTHONDONTWRITEBYTECODE=1 python3 "$SRC/test/e2e/otel/probes.py" "$@"; }

probes notes "$library" >notes || fail "the notes are not as they are published"
expect_equal "probes" "otel_memory:alloc 3
otel_memory:free 1" "$(awk '{ print $1, NF - 3 }' notes)"
readelf -nW "$library" >readelf.notes
expect_equal "by readelf" "$(awk '{ sub(".*:", "", $1); a = $4; for (i = 5; i <= NF; i++) a = a " " $i; print $1, a }' notes)" \
    "$(awk '/Name:/ { name = $NF } /Arguments:/ { sub(/^ *Arguments: /, ""); print name, $0 }' readelf.notes)"

# ---- gdb ----

# debug OPTIONS CASE: the events that gdb sees, in `events`; what the program prints, in `printed`.
debug() {
    cat >commands <<GDB
set pagination off
set confirm off
set startup-with-shell off
set environment LD_PRELOAD $library
set environment LIBPPROF $1
break main
run $2
break -probe-stap otel_memory:alloc
commands
silent
printf "alloc %#lx %lu %lu\n", \$_probe_arg0, \$_probe_arg1, \$_probe_arg2
backtrace
continue
end
break -probe-stap otel_memory:free
commands
silent
printf "free %#lx\n", \$_probe_arg0
continue
end
continue
GDB
    gdb -nx -batch -x commands "$probed" >gdb.out 2>&1 || true
    grep -E '^(alloc|free) 0x[0-9a-f]+( [0-9]+ [0-9]+)?$' gdb.out >both || true
    grep -q 'exited normally' gdb.out || skip "gdb cannot run the program: $(tail -n 3 gdb.out)"
}

if command -v gdb >/dev/null; then
    debug otel-memory:1 each
    # The program prints the same lines, after all its calls.
    expect_equal "lines" 0 $(($(wc -l <both) % 2))
    head -n $(($(wc -l <both) / 2)) both >seen
    tail -n +$(($(wc -l <both) / 2 + 1)) both >printed
    expect_at_least "events" 14 "$(wc -l <printed)"
    diff printed seen || fail "what gdb has seen is not what the program did"
    expect_contains "the stack of a probe" gdb.out " in allocate_here "
    expect_contains "its end" gdb.out " in main "
    debug heap:1 each
    expect_equal "events without the option" 0 "$(($(wc -l <both) - $(wc -l <printed)))"
else
    absent gdb
fi

# ---- the kernel ----

if [ "$(id -u)" != 0 ] || [ ! -e /sys/bus/event_source/devices/uprobe ]; then
    echo "ok, without uprobes of the kernel: they need root"
    exit 0
fi
status=0
probes trace "$library" env LIBPPROF=heap:64k,otel-memory,file=heap.pb.gz LD_PRELOAD="$library" "$probed" wait 40000 \
    >traced || status=$?
[ "$status" != 77 ] || { cat traced && exit 0; }
[ "$status" = 0 ] || fail "trace: $(cat traced)"
go_pprof "$as_written" -raw -sample_index=alloc_space heap.pb.gz >heap.raw 2>/dev/null || fail "no heap profile"
allocated=$(awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 0 }
    part && /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ { sum += $2 } END { print sum }' heap.raw)
expect_near "bytes by weights, and by the profile" "$allocated" "$(awk '$1 == "alloc" { sum += $4 } END { print sum }' traced)" \
    "$(percent "$allocated" 1)"
# 40 000 blocks of 2800 bytes on average are some 1700 samples.
expect_at_least "samples" 1200 "$(grep -c ^alloc traced)"
expect_equal "blocks that are not freed" "" \
    "$(awk '$1 == "alloc" { live[$2] = 1 } $1 == "free" { if (!live[$2]) print "free without alloc", $2; delete live[$2] }
        END { for (b in live) print b }' traced)"
probes trace "$library" env LIBPPROF=heap:64k,file=heap.pb.gz LD_PRELOAD="$library" "$probed" wait 1000 >traced ||
    fail "trace without the option"
expect_equal "events without the option" "" "$(cat traced)"
echo ok
