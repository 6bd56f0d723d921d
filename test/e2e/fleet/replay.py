# SPDX-License-Identifier: MIT
#
# replay.py URL PID PROCESSES ROUNDS FOLDER: sends to a Pyroscope (process PID) what PROCESSES processes with push= would send in ROUNDS intervals of
# 15 seconds: for each one request a round, with the profiles PROGRAM.KIND.pb.gz of one of the programs in FOLDER. Processes are spread
# evenly over the interval. Prints what the server took and refused, how long it took for that, its CPU time and memory, and whether it has
# what was sent: the sum of all CPU profiles, to the nanosecond.
import collections
import glob
import gzip
import http.client
import json
import os
import queue
import sys
import threading
import time
import urllib.parse
import zlib

from messages import decode, fields

INTERVAL = 15
NAMES = {"cpu": "process_cpu", "heap": "memory", "block": "block", "mutex": "mutex", "thread": "goroutine"}
url, server, processes, rounds, folder = urllib.parse.urlsplit(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def without_time(data):
    return b"".join(field(one, part) if wire == 2 else varint(one << 3 | wire) + part for one, wire, part in fields(data) if one != 9)


def load():
    """[(program, [(name, profile without its time)], CPU nanoseconds)]"""
    programs = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "*.pb.gz"))):
        program, kind = os.path.basename(path).split(".")[:2]
        with gzip.open(path) as stream:
            programs[program].append((kind, stream.read()))
    found = []
    for program, profiles in sorted(programs.items()):
        cpu = sum(sample["value"][1] for kind, data in profiles if kind == "cpu" for sample in decode("Profile", data)["sample"])
        found.append((program, [(NAMES[kind], without_time(data)) for kind, data in profiles], cpu))
    return found


def packed(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def request_of(program, profiles, number, now):
    message = b""
    for name, data in profiles:
        labels = {"__name__": name, "service_name": program, "host_name": "host%d" % number, "__delta__": "false"}
        series = b"".join(field(1, field(1, key.encode()) + field(2, value.encode())) for key, value in labels.items())
        message += field(1, series + field(2, field(1, packed(data + field(9, now)))))
    return message


def server_cost():
    with open("/proc/%d/stat" % server) as stream:
        numbers = stream.read().rpartition(")")[2].split()
    with open("/proc/%d/status" % server) as stream:
        memory = next(int(line.split()[1]) for line in stream if line.startswith("VmRSS"))
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK"), memory // 1024


def send(tasks, results):
    client = None
    while True:
        task = tasks.get()
        if task is None:
            return
        due, body, cpu = task
        time.sleep(max(0, due - time.monotonic()))
        begin = time.monotonic()
        try:
            client = client or http.client.HTTPConnection(url.netloc, timeout=60)
            client.request("POST", "/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            answer = client.getresponse()
            answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException):
            status, client = 0, None
        results.append((status, time.monotonic() - begin, begin - due, len(body), cpu if status == 200 else 0))


def total(kind, begin, end):
    client = http.client.HTTPConnection(url.netloc, timeout=120)
    body = {"profile_typeID": kind, "label_selector": "{}", "start": int(begin * 1000), "end": int(end * 1000)}
    before = time.monotonic()
    client.request("POST", "/querier.v1.QuerierService/SelectMergeStacktraces", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.load(client.getresponse())
    return int(answer.get("flamegraph", {}).get("total", 0)), time.monotonic() - before


def main():
    programs, results, tasks = load(), [], queue.Queue(300)
    senders = [threading.Thread(target=send, args=(tasks, results)) for _ in range(256)]
    for sender in senders:
        sender.start()
    cpu_before, _ = server_cost()
    begin, wall_begin = time.monotonic() + 1, time.time() - 1
    for count in range(processes * rounds):
        program, profiles, cpu = programs[count % processes % len(programs)]
        due = begin + count * INTERVAL / processes
        while due - time.monotonic() > 2:
            time.sleep(0.05)
        tasks.put((due, request_of(program, profiles, count % processes, time.time_ns()), cpu))
    for _ in senders:
        tasks.put(None)
    for sender in senders:
        sender.join()
    cpu, memory = server_cost()
    seconds = time.monotonic() - begin
    statuses = collections.Counter(one[0] for one in results)
    taken = sorted(one[1] for one in results)
    print("requests %d in %.0f s, answers %s" % (len(results), seconds, dict(statuses)))
    print("bytes a request %d, all %.1f MB" % (sum(one[3] for one in results) / len(results), sum(one[3] for one in results) / 1e6))
    print("answered after %.2f s, 99 %% within %.2f s; sent late by at most %.1f s" % (taken[len(taken) // 2], taken[len(taken) * 99 // 100], max(one[2] for one in results)))
    print("server: %.1f s of CPU, %.0f %% of one; %d MB resident" % (cpu - cpu_before, 100 * (cpu - cpu_before) / seconds, memory))
    time.sleep(5)
    found, took = total("process_cpu:cpu:nanoseconds:cpu:nanoseconds", wall_begin, time.time() + 5)
    print("CPU time: sent %d, has %d; asked in %.1f s" % (sum(one[4] for one in results), found, took))


main()
