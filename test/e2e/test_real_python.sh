#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_python.sh: an interpreter, its C extensions, libffi's trampolines and closures.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
python=/usr/bin/python3
[ -x $python ] || absent "$python"

cat >work.py <<'PYTHON'
import hashlib, json, re, zlib, threading, ctypes, decimal

data = [{"a": i, "b": str(i) * 3} for i in range(20000)]
text = json.dumps(data)
print(len(json.loads(text)), len(re.findall(r"(\d+)5", text)), zlib.crc32(zlib.compress(text.encode())))
print(hashlib.sha256(text.encode() * 10).hexdigest())
decimal.getcontext().prec = 400
print(decimal.Decimal(2).sqrt())

compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)
numbers = (ctypes.c_int * 5000)(*[(i * 7919) % 20011 for i in range(5000)])
libc.qsort(numbers, 5000, 4, compare_type(lambda a, b: a[0] - b[0]))
print(numbers[0], numbers[4999])

def work():
    sum(i * i for i in range(100000))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
PYTHON
# The floor says that it was sampled at all: a fast machine needs less than a second for it.
same_as_without python 40 $python work.py
same_as_without status 1 $python -c 'import sys; sum(i * i for i in range(300000)); sys.exit(17)'
expect_equal "status" 17 "$same_found"
# shellcheck disable=SC2016 # for the inner shell
# Python's own subprocesses, by vfork and exec.
same_as_without children 1 $python -c '
import subprocess
print(subprocess.run(["sh", "-c", "echo ${LIBPPROF-none} ${LD_PRELOAD-none}"], capture_output=True).stdout)
sum(i * i for i in range(300000))'
echo ok
