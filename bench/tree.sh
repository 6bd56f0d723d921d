#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tree: what `cpprof record` adds to a command that starts many short processes, in percent of the CPU time and of the
# wall time of all of them, its own included. The start of each process, its samples, its profile and the sum of all are
# in it.
#
#   build   make compiles files of this library, two at a time: gcc, cc1 and as for each. A process takes some 15 ms
#   true    a shell runs /bin/true again and again: nothing but the start and the end of processes
#
# Peers: perf record, which the kernel helps (inherited events).

set -eu
# shellcheck disable=SC1091 # profilers.sh is checked by itself
. "${0%/*}/profilers.sh"
cpprof=${LIBRARY%/lib/*}/bin/cpprof
root=$(cd "${0%/*}/.." && pwd)
copies=2 rounds=5 trues=1000
[ "$BENCH" != quick ] || copies=1 rounds=3 trues=300
[ "$BENCH" != long ] || copies=20 # 2 000 processes
cd "$WORK"

cat >Makefile <<MAKE
FILES := \$(shell cd $root && ls src/base/*.c src/store/*.c src/encode/*.c)
COPIES := \$(shell seq $copies)
OBJECTS := \$(foreach n,\$(COPIES),\$(foreach f,\$(FILES),\$(n)_\$(patsubst %.c,%.o,\$(subst /,_,\$(f)))))
# The objects go nowhere, so that each round compiles all of them.
all: \$(OBJECTS)
define rule
\$(1)_\$(patsubst %.c,%.o,\$(subst /,_,\$(2))):
	gcc -w -O2 -g -std=gnu11 -D_GNU_SOURCE -DNDEBUG -DPPROF_NO_MACROS -include $root/src/base/bytes.h \\
	    -I$root/src -I$root/include -c -o /dev/null $root/\$(2)
endef
\$(foreach n,\$(COPIES),\$(foreach f,\$(FILES),\$(eval \$(call rule,\$(n),\$(f)))))
MAKE
command -v gcc >/dev/null && command -v make >/dev/null || {
    echo "# not measured: no gcc or make"
    exit 0
}
make -s -j2 >make.out 2>&1 || {
    echo "# not measured: $(tail -n 1 make.out)"
    exit 0
}
"$cpprof" record -o tree.pb.gz make -s -j2 >record.out 2>&1 || true
echo "# tree: $(sed -n 's/^cpprof: wrote .*(\(.*\))/\1/p' record.out)"

# pairs_of NAME COMMAND...
pairs_of() {
    name=$1
    shift
    set -- "$@" -- record.pprof "$cpprof" record -o tree.pb.gz "$@"
    perf=$(command -v perf || true)
    if [ -n "$perf" ] && perf record -q -F 100 -o perf.data true >/dev/null 2>&1; then
        set -- "$@" -- record.perf "$perf" record -q -F 100 -o perf.data "$peer_command"
    fi
    "$PROGRAMS/pairs" -n $rounds -m cpu,wall none "$@" >pairs
    awk -v name="$name" '{
        split($1, part, ".")    # record.pprof.cpu
        printf "tree.%s_%s.%s %s %s # %s .. %s\n", name, part[3], part[2], $2, $3, $4, $5
    }' pairs
}

printf '#!/bin/sh\nexec make -s -j2\n' >build
printf '#!/bin/sh\ni=0\nwhile [ $i -lt %s ]; do\n    /bin/true\n    i=$((i + 1))\ndone\n' $trues >true
chmod +x build true
peer_command=./build
pairs_of build ./build
peer_command=./true
pairs_of true ./true
