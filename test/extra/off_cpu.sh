#!/bin/sh
# SPDX-License-Identifier: MIT
#
# off_cpu.sh: what others say of the time of a program that the kind `wall` profiles, of the same run: the scheduler's own
# records (perf), offcputime (libbpf-tools), gdb's stacks, getrusage. Not part of ./test.sh: few machines let it see all of them.
#
#   BUILD=$PWD/build/release SRC=$PWD [SECONDS_LONG=6] sh test/extra/off_cpu.sh
#
# Needs root, python3, perf (Debian: linux-perf), and tracefs, which it mounts for itself alone. offcputime (libbpf-tools), gdb,
# redis-server and redis-benchmark are left out where they are not installed. The running time has to agree to 1 % of
# all time, and the sum of the waits to 5 %. (The scheduler also knows how long a thread waited before it began.) Prints a table for docs/WALL.md.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3
as_root "for the scheduler's records"
command -v perf >/dev/null || skip "no perf"
if [ ! -e /sys/kernel/tracing/events/sched/sched_switch ]; then
    [ "${OFF_CPU_APART-}" != yes ] || skip "this kernel has no records of the scheduler"
    unshare -m true 2>/dev/null || skip "no mount namespace of its own"
    status=0
    OFF_CPU_APART=yes unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec sh "$SRC/test/extra/off_cpu.sh"' || status=$?
    exit "$status"
fi

cat >compare.py <<'PYTHON'
"""compare.py LIBRARY CPPROF SECONDS NAME ROOT LOAD COMMAND...: runs the command, and prints a table.

The threads that are compared have NAME in the kernel, and began in the function ROOT: "main" is the first thread, and
others are all but the first. LOAD: a shell command that makes it work; it is stopped when that ends; "": it ends by itself."""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import time

library, cpprof, seconds, name, root, load = sys.argv[1:7]
command = sys.argv[7:]
seconds = float(seconds)
STATES = ["running", "preempted", "lock", "io", "net", "sleep", "poll", "other"]
CALLS = [("futex", "lock"), ("nanosleep", "sleep"), ("epoll", "poll"), ("poll", "poll"), ("recv", "net"), ("send", "net"), ("sock_", "net"),
         ("read", "io"), ("write", "io")]
GDB = [("clock_nanosleep", "sleep"), ("nanosleep", "sleep"), ("epoll_wait", "poll"), ("poll", "poll"), ("futex", "lock"), ("lll_lock_wait", "lock"),
       ("recv", "net"), ("send", "net"), ("read", "io"), ("write", "io")]


def is_compared(tid, first):
    return (tid == first) == (root == "main")


def lines_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.splitlines()


def ours():
    """Seconds of each state in our profile."""
    samples, names, part = [], {}, ""
    for line in lines_of(cpprof, "raw", "wall.pb.gz"):
        if line[:9] in ("Samples:", "Locations", "Mappings"):
            part = line[0]
        elif part == "S" and (found := re.match(r" *\d+ +(\d+): ([\d ]*)", line)):
            samples.append([int(found[1]) / 1e9, found[2].split(), "?"])
        elif part == "S" and (found := re.search(r"state:\[(\w+)\]", line)):
            samples[-1][2] = found[1]
        elif part == "L" and (found := re.match(r" *(\d+): \S+ M=\d+ (\S+)", line)):
            names[found[1]] = found[2]
    sums = collections.Counter()
    for value, stack, state in samples:
        on = {names.get(i) for i in stack}
        if root in on or "pprof_unseen_waits" in on:
            sums[state] += value
    return sums


def scheduler(first):
    """Seconds by perf's records: between two switches of a thread."""
    sums, since, state = collections.Counter(), {}, {}

    def reaches(tid, now, then):
        if tid in state and state[tid] != "gone" and is_compared(tid, first):
            sums[state[tid]] += now - since[tid]
        since[tid], state[tid] = now, then

    for line in lines_of("perf", "script", "-i", "perf.data", "-F", "time,event,trace"):
        found = re.match(r" *([\d.]+): +sched:sched_(\w+): (.*)", line)
        if not found:
            continue
        now, event, rest = float(found[1]), found[2], found[3]
        fields = dict(re.findall(r"(\w+)=(\S+)", rest))
        if event.startswith("wakeup") and fields["comm"] == name:
            tid = int(fields["pid"])
            if state.get(tid) != "running":
                reaches(tid, now, "preempted")
        elif event == "switch":
            if fields["prev_comm"] == name:
                letter = fields["prev_state"][0]
                reaches(int(fields["prev_pid"]), now, "preempted" if letter == "R" else "gone" if letter in "XZ" else "waiting")
            if fields["next_comm"] == name:
                reaches(int(fields["next_pid"]), now, "running")
    return sums


def off_cpu(first):
    """Seconds by offcputime: blocks of frames, "- name (tid)", microseconds."""
    sums, stack = collections.Counter(), []
    text = open("off_cpu.out", encoding="utf-8").read().splitlines()
    for at, line in enumerate(text):
        found = re.match(r" +- +.* \((\d+)\)", line)
        if found:
            if is_compared(int(found[1]), first) and line.split("-", 1)[1].strip().startswith(name):
                kind = next((s for c, s in CALLS if any(c in f for f in stack)), None)
                if kind is None:
                    kind = "preempted" if any("exit_to_user" in f or "irqentry" in f for f in stack) else "other"
                sums[kind] += int(text[at + 1]) / 1e6
            stack = []
        elif line.strip() and not line.strip().isdigit():
            stack.append(line.strip())
    return sums


def gdb_stacks(pid, first):
    """One look of gdb at all threads: how many are in which state."""
    sums, state, tid = collections.Counter(), None, None
    out = lines_of("gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-p", str(pid), "-ex", "thread apply all bt 3")
    for line in out + ["Thread end"]:
        if line.startswith("Thread "):
            if tid is not None and is_compared(tid, first):
                sums[state or "running or preempted"] += 1
            found = re.search(r"LWP (\d+)", line)
            tid, state = int(found[1]) if found else None, None
        elif line.startswith("#") and state is None:
            state = next((s for c, s in GDB if c in line), None)
    return sums


started = []
waits = subprocess.Popen(["sh", "-c", 'kill -STOP $$; exec env LIBPPROF=wall,file=wall.pb.gz LD_PRELOAD="$0" "$@"', library, *command],
                         stdout=open("truth", "w", encoding="utf-8"))
while open(f"/proc/{waits.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[0] != "T":
    time.sleep(0.01)
perf = subprocess.Popen(["perf", "record", "-q", "-a", "-m", "4M", "-o", "perf.data", "-e", "sched:sched_switch", "--filter",
                         f'prev_comm=="{name}"||next_comm=="{name}"', "-e", "sched:sched_wakeup", "--filter", f'comm=="{name}"',
                         "-e", "sched:sched_wakeup_new", "--filter", f'comm=="{name}"'], stderr=subprocess.DEVNULL)
started.append(perf)
has_off_cpu = shutil.which("offcputime")
if has_off_cpu:
    # It prints on SIGINT; what is shorter than a microsecond is left out.
    off = subprocess.Popen([has_off_cpu, "-p", str(waits.pid), "99999"], stdout=open("off_cpu.out", "w", encoding="utf-8"), stderr=subprocess.DEVNULL)
    started.append(off)


def has_attached(process, what):
    try:
        return any(what in os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd"))
    except OSError:
        return process.poll() is not None


while not has_attached(perf, "perf_event"):
    time.sleep(0.05)
while has_off_cpu and not has_attached(off, "bpf"):
    time.sleep(0.05)
time.sleep(1)  # both go on to enable what they have opened
os.kill(waits.pid, signal.SIGCONT)
client = None
if load:
    client = subprocess.Popen(["sh", "-c", load], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
gdb, looks = collections.Counter(), 0
if client is not None:
    client.wait()
    os.kill(waits.pid, signal.SIGTERM)
pid, status, used = os.wait4(waits.pid, 0)
for process in started:
    process.send_signal(signal.SIGINT)
    process.wait()
if shutil.which("gdb"):  # of a run of its own: it stops the program
    again = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    client = subprocess.Popen(["sh", "-c", load], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if load else None
    time.sleep(0.5)
    until = time.monotonic() + seconds
    while again.poll() is None and time.monotonic() < until:
        found = gdb_stacks(again.pid, again.pid)
        if found:
            gdb += found
            looks += 1
    if client is not None:
        client.kill()
    again.kill()
    again.wait()

mine, kernel = ours(), scheduler(waits.pid)
others = off_cpu(waits.pid) if has_off_cpu else collections.Counter()
truth = dict(line.split() for line in open("truth", encoding="utf-8") if re.match(r"\w+ \d+$", line))
total = sum(mine.values())
print(f"| seconds | wall | scheduler | offcputime | gdb, of {looks} looks | other |")
print("|---|---|---|---|---|---|")
for state in STATES:
    if not mine[state] + others[state] + gdb[state]:
        continue
    cells = [f"{mine[state]:.2f}"]
    cells.append(f"{kernel[state]:.2f}" if state in ("running", "preempted") else "")
    cells.append(f"{others[state]:.2f}" if others[state] else "")
    share = gdb[state] / sum(gdb.values()) * total if gdb and state in gdb else 0
    cells.append(f"{share:.2f}" if share else "")
    note = ""
    if state == "running":
        note = f"getrusage {used.ru_utime + used.ru_stime:.2f}"
        if "running" in truth:
            note += f", its own clocks {int(truth['running']) / 1e6:.2f}"
    cells.append(note)
    print(f"| {state} | " + " | ".join(cells) + " |")
waited = sum(mine[s] for s in STATES[2:])
print(f"| all waits | {waited:.2f} | {kernel['waiting']:.2f} | {sum(v for k, v in others.items() if k != 'preempted'):.2f} | | |")
print(f"| all | {total:.2f} | {sum(kernel.values()):.2f} | | | {'' if 'all' not in truth else 'its own clock ' + format(int(truth['all']) / 1e6, '.2f')} |")
if gdb:
    print(f"gdb, which does not tell running from preempted: {gdb['running or preempted'] / sum(gdb.values()) * total:.2f}")
whole = sum(kernel.values())
# Two clocks: the records have the time that a hypervisor took away, getrusage has the first and the last instant.
ran = sorted([kernel["running"], used.ru_utime + used.ru_stime])
for what, low, value, high, bound in (("running", ran[0], mine["running"], ran[1], 0.01),
                                      ("all waits", kernel["waiting"], waited, kernel["waiting"], 0.05)):
    if not low - bound * whole <= value <= high + bound * whole:
        sys.exit(f"{what}: {value:.2f} s, not {low:.2f} to {high:.2f}")
PYTHON

echo "$(uname -sr), $(perf --version), offcputime of libbpf-tools $(dpkg-query -W -f '${Version}' libbpf-tools 2>/dev/null || echo none), $(
    gdb --version 2>/dev/null | head -n 1 || echo 'no gdb')"
long=${SECONDS_LONG:-6}
echo "three threads of test/e2e/victims/wall.c"
python3 compare.py "$library" "$BUILD/bin/cpprof" "$long" wall wall_worker "" "$victims/wall" 3 "${long}000" 10000 || fail "the victim"
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
    echo "redis-server, redis-benchmark -t get -c 20 for $long seconds"
    python3 compare.py "$library" "$BUILD/bin/cpprof" "$long" redis-server main \
        "until redis-cli -s '$work/s' ping; do sleep 0.1; done; timeout $long redis-benchmark -s '$work/s' -t get -n 100000000 -c 20" \
        redis-server --port 0 --unixsocket "$work/s" --save "" || fail "redis"
fi
echo ok
