# SPDX-License-Identifier: MIT
"""context.py: a strict reader of OpenTelemetry's process context (OTEP 4719) and thread context (OTEP 4947), written from
the published drafts. Whatever a draft forbids raises Wrong.

    find(pid)                the address of the process context's mapping, or None
    read(pid, address)       (time, payload) of a whole context
    decode(payload)          a Context: resource and attributes, as dictionaries, and the list of keys
    Variable(pid)            where otel_thread_ctx_v1 is, found in .dynsym and the relocations
    Traced(tid)              a thread under ptrace: stop(), step(), go_on(), let_go()
    record(pid, pointer)     the record that the pointer leads to, as a Record; None: not valid
"""
import collections
import ctypes
import os
import platform
import signal
import struct

NAMES = ("[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]", "/memfd:OTEL_CTX")
SYMBOL = b"otel_thread_ctx_v1"
MACHINE = platform.machine()


class Wrong(Exception):
    """What is published contradicts the draft."""


class Changing(Exception):
    """The context was written meanwhile: to be read again."""


def must(condition, what):
    if not condition:
        raise Wrong(what)


# ---- memory of another process -------------------------------------------------------------------

libc = ctypes.CDLL(None, use_errno=True)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc.process_vm_readv.argtypes = [ctypes.c_int, ctypes.POINTER(Iovec), ctypes.c_ulong, ctypes.POINTER(Iovec),
                                  ctypes.c_ulong, ctypes.c_ulong]
libc.process_vm_readv.restype = ctypes.c_ssize_t


def copy(pid, address, size):
    """The bytes, fewer at the end of what is mapped."""
    buffer = ctypes.create_string_buffer(max(size, 1))
    local = Iovec(ctypes.addressof(buffer), size)
    remote = Iovec(address, size)
    got = libc.process_vm_readv(pid, local, 1, remote, 1, 0)
    if got < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    return buffer.raw[:got]


def word(pid, address):
    return struct.unpack("=Q", copy(pid, address, 8))[0]


def maps(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            part = line.rstrip("\n").split(None, 5)
            begin, end = (int(x, 16) for x in part[0].split("-"))
            yield begin, end, part[1], int(part[2], 16), part[5] if len(part) > 5 else ""


# ---- the process context -------------------------------------------------------------------------

def find(pid):
    found = [m for m in maps(pid) if m[4].startswith(NAMES)]
    must(len(found) <= 1, f"{len(found)} contexts")
    if not found:
        return None
    must(found[0][2].startswith("rw-p"), f"a mapping that is {found[0][2]}")
    return found[0][0]


def read(pid, address):
    signature, version, size, published_ns, payload = struct.unpack("=8sIIQQ", copy(pid, address, 32))
    must(signature == b"OTEL_CTX" and version == 2, f"a header of {signature} {version}")
    if published_ns == 0:
        raise Changing
    content = copy(pid, payload, size)
    if struct.unpack("=Q", copy(pid, address + 16, 8))[0] != published_ns:
        raise Changing
    must(len(content) == size and 0 < size <= 65536, f"a payload of {size} bytes")
    return published_ns, content


def read_patiently(pid, address):
    while True:
        try:
            return read(pid, address)
        except Changing:
            pass


def varint(data, at):
    value = shift = 0
    while True:
        must(at < len(data) and shift < 64, "a number without an end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        must(tag & 7 == 2, f"wire type {tag & 7}")
        size, at = varint(data, at)
        must(at + size <= len(data), "a field that is longer than its message")
        yield tag >> 3, data[at:at + size]
        at += size


def any_value(data):
    (number, content), = fields(data)
    if number == 1:
        return content.decode("utf-8")
    must(number == 5, f"a value of type {number}")
    return [any_value(element) for one, element in fields(content) if must(one == 1, "an array's field") is None]


def key_value(data):
    (one, key), (two, value) = fields(data)
    must((one, two) == (1, 2), "a KeyValue without its fields")
    return key.decode("utf-8"), any_value(value)


def dictionary(pairs):
    result = dict(pairs)
    must(len(result) == len(pairs) and "" not in result, "a key twice, or none")
    return result


Context = collections.namedtuple("Context", "resource attributes keys")


def decode(payload):
    resource, attributes = [], []
    for number, content in fields(payload):
        must(number in (1, 2), f"a field {number} of the context")
        if number == 1:
            for one, pair in fields(content):
                must(one == 1, f"a field {one} of the resource")
                resource.append(key_value(pair))
        else:
            attributes.append(key_value(content))
    resource, attributes = dictionary(resource), dictionary(attributes)
    keys = attributes.get("threadlocal.attribute_key_map")
    must((keys is None) == ("threadlocal.schema_version" not in attributes), "keys without a schema")
    if keys is not None:
        must(attributes["threadlocal.schema_version"] == "tlsdesc_v1_dev", "another schema")
        must(len(keys) <= 256 and len(set(keys)) == len(keys), "too many keys, or one twice")
    return Context(resource, attributes, keys)


def context(pid):
    """The context of the process, or None."""
    address = find(pid)
    return decode(read_patiently(pid, address)[1]) if address is not None else None


# ---- the variable --------------------------------------------------------------------------------

TYPE_OF_OFFSET = {"x86_64": 18, "aarch64": 1030}  # R_X86_64_TPOFF64, R_AARCH64_TLS_TPREL64
TYPE_OF_DESCRIPTOR = {"x86_64": 36, "aarch64": 1031}  # R_X86_64_TLSDESC, R_AARCH64_TLSDESC: a function, and what it is given


class Elf:
    """The dynamic part of a 64-bit file: its program headers, symbols and relocations."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:5] != b"\x7fELF\x02":
            raise ValueError
        headers, = struct.unpack_from("=Q", self.data, 32)
        size, count = struct.unpack_from("=HH", self.data, 54)
        self.segments = [struct.unpack_from("=IIQQQQQQ", self.data, headers + i * size) for i in range(count)]
        self.dynamic = {}
        for segment in self.segments:
            if segment[0] == 2:
                for at in range(segment[2], segment[2] + segment[5], 16):
                    tag, value = struct.unpack_from("=QQ", self.data, at)
                    self.dynamic.setdefault(tag, value)

    def offset(self, address):
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == 1 and start <= address < start + size:
                return address - start + offset
        raise ValueError

    def name(self, symbol):
        at = self.offset(self.dynamic[5]) + struct.unpack_from("=I", self.data, self.offset(self.dynamic[6]) + 24 * symbol)[0]
        return self.data[at:self.data.index(b"\0", at)]

    def thread_offset_slot(self, name):
        """The address of the word with the variable's distance from the thread pointer; None: there is none. A descriptor has
        it in the second word if the variable was there at the start of the program."""
        words = {TYPE_OF_OFFSET[MACHINE]: 0, TYPE_OF_DESCRIPTOR[MACHINE]: 8}
        for table, size in ((7, 8), (23, 2)):  # DT_RELA, DT_JMPREL
            if table not in self.dynamic:
                continue
            begin = self.offset(self.dynamic[table])
            for at in range(begin, begin + self.dynamic[size], 24):
                address, info, addend = struct.unpack_from("=QQq", self.data, at)
                if info & 0xFFFFFFFF in words and info >> 32 and self.name(info >> 32) == name:
                    must(addend == 0, "a relocation with an addend")
                    return address + words[info & 0xFFFFFFFF]
        return None


    def thread_offset_in_program(self, name):
        """The variable's distance from the thread pointer if this is the program, and defines it; None: it does not."""
        tls = [s for s in self.segments if s[0] == 7]
        if not tls or not self.dynamic.get(0x6FFFFFFB, 0) & 0x08000000:  # DF_1_PIE; others are not looked for
            return None
        begin, end = self.offset(self.dynamic[6]), self.offset(self.dynamic[5])  # the names follow the symbols
        for at in range(begin, end - 23, 24):
            _, info, _, section, value, size = struct.unpack_from("=IBBHQQ", self.data, at)
            if info & 15 == 6 and section and self.name((at - begin) // 24) == name:
                must(size == 8, "a variable that is no pointer")
                align = max(tls[0][7], 1)
                if MACHINE == "x86_64":
                    return value - (tls[0][6] + align - 1) // align * align
                return value + (16 + align - 1) // align * align
        return None


class Variable:
    """Where a process has the variable, by way of the first file that refers to it or is the program."""

    def __init__(self, pid):
        self.pid = pid
        self.offset = None
        first = {}
        for begin, _, _, offset, path in maps(pid):
            if path.startswith("/") and path not in first and offset == 0:
                first[path] = begin
        for path, begin in first.items():
            try:
                elf = Elf(path)
                if SYMBOL not in elf.data:
                    continue
                slot = elf.thread_offset_slot(SYMBOL)
                self.offset = elf.thread_offset_in_program(SYMBOL) if slot is None else None
            except (ValueError, OSError, KeyError):
                continue
            if self.offset is not None:
                return
            if slot is not None:
                start = min(s[3] for s in elf.segments if s[0] == 1)
                self.offset = struct.unpack("=q", copy(pid, begin - start + slot, 8))[0]
                return

    def pointer(self, thread_pointer):
        must(self.offset is not None, "no variable")
        return word(self.pid, thread_pointer + self.offset)


# ---- records -------------------------------------------------------------------------------------

Record = collections.namedtuple("Record", "trace span labels")


def record(pid, pointer, whole=None):
    """By two copies, as the draft has it. `whole`: the record's bytes, of one copy."""
    if pointer == 0:
        return None
    must(pointer % 2 == 0, "a record at an odd address")
    head = whole[:28] if whole else copy(pid, pointer, 28)
    must(len(head) == 28, "half a record")
    trace, span, valid, flags, size = struct.unpack("=16s8sBBH", head)
    if valid != 1:
        return None
    must(28 + size <= 640, f"a record of {28 + size} bytes")
    must(any(trace) == any(span) and (any(trace) or flags == 0), "half a pair of ids")
    data = whole[28:28 + size] if whole else copy(pid, pointer + 28, size)
    labels, at = {}, 0
    while at < size:
        must(at + 2 <= size and at + 2 + data[at + 1] <= size, "a label that is not whole")
        must(data[at] not in labels, "a key twice")
        labels[data[at]] = data[at + 2:at + 2 + data[at + 1]].decode("utf-8")
        at += 2 + data[at + 1]
    return Record(trace.hex(), span.hex(), labels)


def named(found, keys):
    """The labels of a record by their keys."""
    must(all(number < len(keys) for number in found.labels), "a key that the context does not list")
    return {keys[number]: value for number, value in found.labels.items()}


# ---- threads that are stopped --------------------------------------------------------------------

CONT, SINGLESTEP, DETACH, GETREGSET, SEIZE, INTERRUPT = 7, 9, 17, 0x4204, 0x4206, 0x4207
WALL = 0x40000000
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(what, tid, address=0, data=0):
    if libc.ptrace(what, tid, address, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


class Traced:
    def __init__(self, tid):
        self.tid = tid
        self.ended = False
        self.base = None
        ptrace(SEIZE, tid)

    def wait(self):
        """The signal that it has stopped for; None: it has ended."""
        _, status = os.waitpid(self.tid, WALL)
        if not os.WIFSTOPPED(status):
            self.ended = True
            return None
        return os.WSTOPSIG(status)

    def stop(self):
        ptrace(INTERRUPT, self.tid)
        stopped = self.wait()
        must(stopped in (signal.SIGTRAP, None), f"stopped by {stopped}")
        return stopped is not None

    def step(self):
        ptrace(SINGLESTEP, self.tid)
        return self.wait()

    def let_go(self):
        if not self.ended:
            ptrace(DETACH, self.tid)

    def go_on(self):
        ptrace(CONT, self.tid)

    def thread_pointer(self):
        if self.base is None:
            note, position, size = (1, 21 * 8, 27 * 8) if MACHINE == "x86_64" else (0x401, 0, 8)  # fs_base; NT_ARM_TLS
            buffer = ctypes.create_string_buffer(size)
            place = Iovec(ctypes.addressof(buffer), size)
            ptrace(GETREGSET, self.tid, note, ctypes.addressof(place))
            self.base = struct.unpack_from("=Q", buffer, position)[0]
        return self.base
