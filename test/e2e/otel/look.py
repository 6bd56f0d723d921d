# SPDX-License-Identifier: MIT
"""look.py CASE PROGRAM [ARGUMENT...]: starts a case of linked/otel.c, and reads from outside what it publishes.

    shown    prints, for each line of the program, its word, the trace's id and the span's, the labels, and the
             number of keys that the context has
    steps    after every instruction until SIGSTOP; prints the labels in their order; adds: the lists of keys
    storm    threads stopped at random moments (LOOKS of them); kept: threads that go on
    grows    reads the context all the time, while its list of keys grows
    context  prints the resource, and writes the payload to the file `payload`
    process, find  of a process that runs (look.py process PID): the same, or only whether anything is published
"""
import json
import os
import random
import signal
import subprocess
import sys

import context

LOOKS = int(os.environ.get("OTEL_LOOKS", 300))


class Program:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def line(self):
        """Its next word, and the thread that has said it."""
        part = self.process.stdout.readline().split()
        return (part[0], int(part[1])) if part else (None, None)

    def answer(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"the program has ended with {self.process.returncode}")


def attach(tid):
    try:
        return context.Traced(tid)
    except OSError as error:
        print(f"no ptrace: {error}")
        sys.exit(77)


def describe(found, keys):
    if found is None:
        return "- - -"
    labels = json.dumps(context.named(found, keys), sort_keys=True, ensure_ascii=False)
    return f"{found.trace.lstrip('0') or '-'} {found.span.lstrip('0') or '-'} {labels}"


def shown(program):
    variables, instances = {}, set()
    while True:
        word, tid = program.line()
        if word is None:
            break
        pid = tid if word == "child" else program.pid
        published = context.context(pid)
        if published is not None:
            instances.add(published.resource["service.instance.id"])
        if published is None or published.keys is None:
            print(word, "nothing is shown")
        else:
            thread = attach(tid)
            thread.stop()
            if pid not in variables:
                variables[pid] = context.Variable(pid)
            found = context.record(pid, variables[pid].pointer(thread.thread_pointer()))
            print(word, describe(found, published.keys), len(published.keys))
            thread.let_go()
        program.answer()
    print(len(instances), "instances")


def after_each_step(program, look):
    """What look(thread) has found after each instruction until SIGSTOP, without what is the same as before."""
    program.line()
    thread = attach(program.pid)
    thread.stop()
    program.answer()
    look = look(thread)
    seen, count = [], 0
    while True:
        stopped = thread.step()
        if stopped in (signal.SIGSTOP, None):
            break
        context.must(stopped == signal.SIGTRAP, f"stopped by {stopped}")
        count += 1
        text = look()
        if not seen or seen[-1] != text:
            seen.append(text)
    print(f"{count} instructions", file=sys.stderr)
    print("\n".join(seen))
    thread.let_go()


def steps(program):
    def look(thread):
        variable, keys = context.Variable(program.pid), context.context(program.pid).keys
        base = thread.thread_pointer()
        return lambda: describe(context.record(program.pid, variable.pointer(base)), keys)
    after_each_step(program, look)


def adds(program):
    def look(_):
        address = context.find(program.pid)

        def keys():
            try:
                return json.dumps(context.decode(context.read(program.pid, address)[1]).keys)
            except context.Changing:
                return "is written"
        return keys
    after_each_step(program, look)


def check_label(found, keys):
    """All labels of a set have one value, which begins with their number."""
    if found is None:
        return 0
    labels = context.named(found, keys)
    values = set(labels.values())
    context.must(len(values) == 1, f"a torn record: {labels}")
    value = values.pop()
    context.must(value[0] == str(len(labels)) and len(set(value[1:])) == 1, f"a torn record: {labels}")
    return 1


def storm(program):
    program.line()
    variable, keys = context.Variable(program.pid), context.context(program.pid).keys
    tids = [int(t) for t in os.listdir(f"/proc/{program.pid}/task") if int(t) != program.pid]
    threads = [attach(t) for t in tids]
    valid = 0
    for _ in range(LOOKS):
        thread = random.choice(threads)
        thread.stop()
        valid += check_label(context.record(program.pid, variable.pointer(thread.thread_pointer())), keys)
        thread.go_on()
    for thread in threads:
        thread.stop()
        thread.let_go()
    context.must(valid > LOOKS // 4, f"only {valid} of {LOOKS} looks have found a record")
    print(f"{valid} records, {LOOKS} looks", file=sys.stderr)


def kept(program):
    """Records that never change may be read while the thread runs."""
    program.line()
    variable, keys = context.Variable(program.pid), context.context(program.pid).keys
    bases = []
    for name in os.listdir(f"/proc/{program.pid}/task"):
        if int(name) != program.pid:
            thread = attach(int(name))
            thread.stop()
            bases.append(thread.thread_pointer())
            thread.let_go()
    valid = 0
    for _ in range(4 * LOOKS):
        pointer = variable.pointer(random.choice(bases))
        whole = context.copy(program.pid, pointer, 640) if pointer else None
        valid += check_label(context.record(program.pid, pointer, whole), keys)
    context.must(valid > 2 * LOOKS, f"only {valid} looks have found a record")
    print(f"{valid} records", file=sys.stderr)


def grows(program):
    program.line()
    address = context.find(program.pid)
    program.answer()
    before, whole, changing, newest_ns = [], 0, 0, 0
    while len(before) < 250:
        try:
            published_ns, payload = context.read(program.pid, address)
        except context.Changing:
            changing += 1
            continue
        keys = context.decode(payload).keys
        context.must(keys[:len(before)] == before, "a key has another number")
        context.must(published_ns >= newest_ns, "a time from before")
        context.must(published_ns > newest_ns or keys == before, "another list at the same time")
        before, newest_ns, whole = keys, published_ns, whole + 1
    context.must(before == [f"key-{i}" for i in range(250)], "other keys")
    print(f"{whole} reads, {changing} while it was written", file=sys.stderr)


def print_context(pid):
    address = context.find(pid)
    if address is None:
        print("nothing is published")
        return
    _, payload = context.read_patiently(pid, address)
    with open("payload", "wb") as file:
        file.write(payload)
    for key, value in sorted(context.decode(payload).resource.items()):
        print(f"{key}={value}")


def publish(program):
    program.line()
    print_context(program.pid)


CASES = {"shown": shown, "steps": steps, "storm": storm, "kept": kept, "adds": adds, "grows": grows, "context": publish}
case, command = sys.argv[1], sys.argv[2:]
if case in ("process", "find"):
    pid = int(command[0])
    if case == "find":
        print("nothing is published" if context.find(pid) is None else "something is published")
    else:
        print_context(pid)
    sys.exit(0)
started = Program(command)
try:
    CASES[case](started)
    started.end()
except BaseException:
    started.process.kill()
    raise
