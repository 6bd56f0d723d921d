#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_doctor.sh: `cpprof doctor` says what hinders a profile of a machine, a program and a process, what mends it,
# and fails if a profile that is asked for cannot come. It runs nothing of the program.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc strip python3
own_programs
cpprof=$BUILD/bin/cpprof

# doctor STATUS WORDS...: ends with that status; what it says is in out, complaints are in err.
doctor() {
    doctor_status=$1
    shift
    doctor_found=0
    "$cpprof" doctor "$@" >out 2>err || doctor_found=$?
    expect_equal "status of doctor $*: $(cat out err)" "$doctor_status" "$doctor_found"
}

# says STATE TOPIC TEXT [REMEDY]
says() {
    awk -v state="$1" -v topic="$2" '
        /^ *-> / { if (on) { sub(/^ *-> /, ""); print "remedy: " $0 } next }
        { on = 0 }
        substr($0, 3, 5) ~ "^" state " *$" && substr($0, 9, length(topic)) == topic { print; on = 1 }' out >said
    expect_contains "what is said of $2: $(cat out)" said "$3"
    [ $# -lt 4 ] || expect_contains "what mends $2: $(cat out)" said "remedy: $4"
}

doctor 0
says ok library 'a profile of `true` arrived'
says ok timers 'the kernel ticks at'

# A library that no profile comes from, and none.
cp "$(command -v "$cpprof")" lonely
found=0
LIBPPROF_LIBRARY=/nowhere/libpprof.so "$cpprof" doctor >out 2>err || found=$?
expect_equal "status without a library" 1 $found
says NO library /nowhere/libpprof.so
expect_contains "without a library" err "no cpu profile will come"
PATH=$work/empty LIBPPROF=cpu "$cpprof" doctor >out 2>err || true
says less objdump "not installed" "apt install binutils"

# ---- programs

cat >leaves_a_mark.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void run(void) { fclose(fopen("mark", "w")); }
int main(void) { free(malloc(1)); return 0; }
C
cc -g -o whole leaves_a_mark.c
cp whole stripped
strip stripped
doctor 0 -e cpu,heap ./whole
says ok preload "dynamically linked by"
says ok names "a symbol table"
says ok lines "debug information"
export LIBPPROF=push=http://127.0.0.1:1,service=a
doctor 0 ./whole
says less push "no kind of profile: nothing is sent" "LIBPPROF=cpu,heap,push=URL"
LIBPPROF=push=http://127.0.0.1:1,heap
doctor 0 ./whole
unset LIBPPROF
! grep -q "nothing is sent" out || fail "heap is no kind: $(cat out)"
doctor 0 ./stripped
says less names "stripped" "do not strip it"
says less lines "no debug information" "compile it with -g1"
[ ! -e mark ] || fail "doctor has run the program"

printf 'int answer(void) { return 42; }\n' >other.c
cc -shared -fPIC -o libanswer.so other.c
printf 'int answer(void); int main(void) { return answer(); }\n' >asks.c
cc -o asks asks.c -L. -lanswer -Wl,-rpath,"$work"
doctor 0 ./asks
rm libanswer.so
doctor 1 ./asks
says NO libraries "libanswer.so"

cat >own_malloc.c <<'C'
#include <stddef.h>
static char memory[1 << 16];
static size_t used;
void *malloc(size_t size) { used += 16 + (size + 15) / 16 * 16; return memory + used - (size + 15) / 16 * 16; }
void free(void *block) { (void)block; }
int main(void) { return malloc(1) == NULL; }
C
cc -fno-builtin -rdynamic -o exports own_malloc.c
doctor 0 ./exports
says NO malloc "the heap profile will be empty"
doctor 1 -e cpu,heap ./exports
expect_equal "complaints" "cpprof: no heap profile will come: see above" "$(cat err)"
cc -fno-builtin -Wl,--exclude-libs=ALL -fvisibility=hidden -o hides own_malloc.c
doctor 0 -e heap ./hides
says less malloc "a malloc of its own"

if cc -static -o static leaves_a_mark.c 2>/dev/null; then
    doctor 1 ./static
    says NO preload "statically linked"
fi
printf '#!/bin/sh\nexec %s/whole\n' "$work" >script
chmod +x script
doctor 0 ./script
expect_contains "a script's program" out /sh
doctor 1 ./no_such_command
expect_contains "no command" err "./no_such_command: expected a command, found none"
doctor 2 -p 1 ./whole
doctor 2 -e no_such_kind ./whole
doctor 1 -p 999999999
doctor 1 -p x

# ---- JSON

"$cpprof" doctor --json ./stripped >out.json || fail "--json: $?"
python3 - out.json <<'PYTHON' || fail "--json: $(cat out.json)"
import json, sys

found = json.load(open(sys.argv[1]))["findings"]
names, = [f for f in found if f["topic"] == "names"]
assert (names["state"], names["subject"], names["remedy"]) == ("limited", "./stripped", "do not strip it"), names
assert all(set(f) - {"remedy"} == {"state", "subject", "topic", "text"} for f in found)
PYTHON

# ---- processes

sleep 1000 &
process=$!
trap 'kill $process 2>/dev/null || true; rm -rf "$work"' EXIT
doctor 0 -p $process
whole=ok
! is_musl "$library" || whole=less # its calls are not followed in a process that waits
says $whole dump "1 thread"
says ok library "not loaded; \`cpprof record -p $process\`"
doctor 0 -e cpu -p $process
kill -STOP $process
wait_until grep -q '^State:.*stopped' "/proc/$process/status"
doctor 1 -e cpu -p $process
says NO library "not loaded, and it cannot be attached to: process $process is stopped" "cpprof record"
kill -CONT $process
kill $process
LIBPPROF=block LD_PRELOAD="$library" sleep 1000 &
process=$!
loaded() { grep -q libpprof "/proc/$process/maps"; }
wait_until loaded
doctor 0 -e block -p $process
says ok library "LIBPPROF=block"
kill $process
echo ok
