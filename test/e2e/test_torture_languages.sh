#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, what follows the system calls (test/torture/torture.c) knows glibc only
# timeout: 3600
# nightly: 2
#
# test_torture_languages.sh: likewise python3 with threads, and perl.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/torture.sh
. "$SRC/test/e2e/torture.sh"

cat >work.py <<'PY'
import hashlib, subprocess, threading
lock = threading.Lock()
found = {}
def work(n):
    for i in range(800):
        text = hashlib.sha256(str(n * i).encode()).hexdigest()
        with lock:
            found[n] = found.get(n, 0) + int(text[:4], 16)
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(found.items()), subprocess.run(["echo", "child"], stdout=subprocess.PIPE).stdout)
PY
need python3
python=$(python3 -c 'import sys; print(sys.executable)') # python3 may be a script that looks for it
torture python3 "$all_kinds,wall,$profiles" "$python" -S work.py
torture python3-control "cpu:1000,heap:4k,control=%D/c.sock,http=unix:%D/h.sock,interval=10ms,$profiles" "$python" -S work.py
! command -v perl >/dev/null || torture perl "$all_kinds,symbolize=lines,$profiles" \
    perl -e 'for (1..60000) { $h{$_ % 100} .= "x"; $s += $_ } print "$s\n"; exit 3'
echo ok
