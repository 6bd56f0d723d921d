# SPDX-License-Identifier: MIT
"""probes.py: reads the notes of USDT probes as they are published, and has the kernel stop at them.

    probes.py notes FILE                       prints each probe: provider:name, offset, offset of the semaphore, arguments
    probes.py trace FILE PROGRAM ARGUMENT...   runs the program, which reads a line first; prints what the kernel's uprobes
                                               have seen: `alloc ARGUMENTS` or `free ARGUMENTS`. Needs root.
"""
import collections
import ctypes
import mmap
import os
import struct
import subprocess
import sys

import context

Probe = collections.namedtuple("Probe", "provider name offset semaphore arguments")


def sections(data):
    table, = struct.unpack_from("=Q", data, 40)
    size, count, names = struct.unpack_from("=HHH", data, 58)
    heads = [struct.unpack_from("=IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for head in heads:
        begin = heads[names][4] + head[0]
        yield data[begin:data.index(b"\0", begin)].decode(), head


def text(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def notes(path):
    elf = context.Elf(path)
    data, found = elf.data, dict(sections(elf.data))
    base = found[".stapsdt.base"][3]
    head = found[".note.stapsdt"]
    context.must(head[1] == 7 and head[2] & 2 == 0, "a section that is no note, or takes memory")
    at, end = head[4], head[4] + head[5]
    while at < end:
        name_size, size, kind = struct.unpack_from("=III", data, at)
        context.must((name_size, kind) == (8, 3) and data[at + 12:at + 20] == b"stapsdt\0", "another note")
        begin = at + 20
        address, link_base, semaphore = struct.unpack_from("=QQQ", data, begin)
        moved = base - link_base
        provider, rest = text(data, begin + 24)
        name, rest = text(data, rest)
        arguments, rest = text(data, rest)
        context.must(rest == begin + size, "bytes after the arguments")
        yield Probe(provider, name, elf.offset(address + moved), elf.offset(semaphore + moved), arguments)
        at = begin + (size + 3) // 4 * 4


# ---- the kernel's uprobes ------------------------------------------------------------------------

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[context.MACHINE]
REGISTERS = {"x86_64": {f"%{n}": i for i, n in enumerate(["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"])},
             "aarch64": {f"x{i}": i for i in range(31)}}[context.MACHINE]
PAGES = 512


class Attr(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64),
                ("period", ctypes.c_uint64), ("sample", ctypes.c_uint64), ("read", ctypes.c_uint64),
                ("flags", ctypes.c_uint64), ("wakeup", ctypes.c_uint32), ("breakpoint", ctypes.c_uint32),
                ("path", ctypes.c_uint64), ("offset", ctypes.c_uint64), ("branches", ctypes.c_uint64),
                ("registers", ctypes.c_uint64), ("stack", ctypes.c_uint32), ("clock", ctypes.c_int32)]


class Event:
    """An event for each time that the process comes to the probe."""

    def __init__(self, probe, path, pid):
        self.probe = probe
        places = [a.split("@") for a in probe.arguments.split()]
        context.must(all(size == "8" for size, _ in places), "an argument of another size")
        self.registers = [REGISTERS[place] for _, place in places]
        self.mask = sum(1 << r for r in set(self.registers))
        self.path = ctypes.create_string_buffer(os.path.realpath(path).encode())
        with open("/sys/bus/event_source/devices/uprobe/type", encoding="ascii") as file:
            kind = int(file.read())
        attr = Attr(kind, ctypes.sizeof(Attr), probe.semaphore << 32, 1, 1 << 12 | 1 << 2, 0, 1 << 5 | 1 << 6, 1, 0,
                    ctypes.addressof(self.path), probe.offset, 0, self.mask, 0, 0)  # REGS_USER, TIME; without the kernel
        self.fd = context.libc.syscall(PERF_EVENT_OPEN, ctypes.byref(attr), pid, -1, -1, 8)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "perf_event_open")
        self.ring = mmap.mmap(self.fd, (1 + PAGES) * 4096)

    def seen(self):
        """(time, name, arguments) of each event."""
        head, = struct.unpack_from("=Q", self.ring, 1024)
        at, size = 0, PAGES * 4096
        context.must(head <= size, "more events than the ring holds")
        data = self.ring[4096:]
        order = [r for r in range(64) if self.mask >> r & 1]
        while at < head:
            kind, _, length = struct.unpack_from("=IHH", data, at)
            if kind == 9:
                time, abi, *values = struct.unpack_from(f"=QQ{len(order)}Q", data, at + 8)
                context.must(abi == 2, "registers of another machine")
                yield time, self.probe.name, [values[order.index(r)] for r in self.registers]
            at += length


def trace(path, command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    name = os.path.basename(os.path.realpath(path))
    while not any(m[4].endswith(name) for m in context.maps(child.pid)):
        context.must(child.poll() is None, "the program has ended without the library")
    try:
        events = [Event(probe, path, child.pid) for probe in notes(path)]
    except OSError as error:
        child.kill()
        print(f"no uprobes: {error}")
        sys.exit(77)
    child.communicate(b"\n")
    for _, name, arguments in sorted(e for event in events for e in event.seen()):
        print(name, hex(arguments[0]), *arguments[1:])
    sys.exit(child.returncode)


if sys.argv[1] == "notes":
    for probe in notes(sys.argv[2]):
        print(f"{probe.provider}:{probe.name} {probe.offset:#x} {probe.semaphore:#x} {probe.arguments}")
else:
    trace(sys.argv[2], sys.argv[3:])
