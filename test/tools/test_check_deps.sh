#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_check_deps.sh: tools/check-deps passes what the table allows, and names each thing that it
# forbids, circles and references of objects included. Works on a tree of its own that is made here.

set -eu
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tools"
cp "$SRC/tools/check-deps" "$tree/tools/"
cd "$tree"

# put PATH LINE...: writes a file of these lines.
put() {
    path=$1
    shift
    mkdir -p "$(dirname "$path")"
    printf '%s\n' "$@" >"$path"
}

fail() {
    echo "FAILED: $1" >&2
    echo "--- what check-deps said:" >&2
    cat out >&2
    exit 1
}

clean_tree() {
    rm -rf src dwarf remote cmd http test bench include
    put include/pprof.h '#include <stdint.h>'
    put src/base/arena.h '#include <stddef.h>'
    put src/base/arena.c '#include "base/arena.h"' '#include <sys/mman.h>'
    put src/arch/arch.h '#include <stdint.h>'
    put src/sys/tasks.h '#include "arch/arch.h"'
    put src/modules/maps.h '#include "sys/tasks.h"'
    put src/unwind/walk.h '#include "arch/arch.h"' '#include "modules/maps.h"'
    put src/store/stacks.h '#include "base/arena.h"'
    put src/kinds/cpu/cpu.h '#include "unwind/walk.h"' '# include "store/stacks.h"'
    put src/kinds/heap/heap.h '#include "host/kind.h"' '#include "encode/proto.h"'
    put src/host/kind.h '#include "store/stacks.h"'
    put src/host/thread.c '#include "host/kind.h"' '#include "pprof.h"'
    put src/elf/elf.h '#include "sys/tasks.h"'
    put src/symbol/names.h '#include "elf/elf.h"'
    put src/profile/model.h '#include "store/stacks.h"' '#include "modules/maps.h"'
    put src/encode/proto.h '#include "profile/model.h"' '#include "symbol/names.h"' '#include <zlib.h>'
    put src/output/file.h '#include "encode/proto.h"'
    put src/api/options.h '#include "pprof.h"'
    put src/api/version.c '#include "api/options.h"' '#include "output/file.h"' '#include "host/kind.h"'
    put src/host/thread.h ' * a comment may say #include "encode/proto.h"'
    put src/kinds.c '#include "host/kind.h"'
    put cmd/base/pool.h '#include <pprof.h>'
    put cmd/report/graph.h '#include "base/pool.h"'
    put cmd/report/graph.c '#include "report/graph.h"'
    put cmd/verbs/verbs.h '#include "report/graph.h"'
    put include/pprof_dwarf.h '#include <stdint.h>'
    put src/output/plugin.c '#include "pprof_dwarf.h"'
    put dwarf/lines.h '#include "pprof_dwarf.h"'
    put dwarf/lines.c '#include "dwarf/lines.h"' '#include <elfutils/libdw.h>'
    put cmd/main.c '#include "verbs/verbs.h"' '#include "pprof.h"' '#include <stdio.h>' '#include "dwarf/lines.h"'
    put remote/dump.h '#include "pprof.h"'
    put remote/dump.c '#include "remote/dump.h"' '#include "unwind/walk.h"' '#include "encode/proto.h"'
    put cmd/verbs/verb_dump.c '#include "remote/dump.h"'
    put bench/own.c '#include <pprof.h>' '#include <libunwind.h>'
    put bench/inside/walk.c '#include "unwind/walk.h"'
    put test/unit/test_cpu.c '#include "kinds/cpu/cpu.h"' '#include "../whatever.h"'
}

clean_tree
tools/check-deps >out 2>&1 || fail "the clean tree did not pass"

# refuses PATH LINE MESSAGE: with LINE added to the clean tree, exactly this is reported.
cases=0
refuses() {
    clean_tree
    [ -e "$1" ] || put "$1" ''
    printf '%s\n' "$2" >>"$1"
    number=$(wc -l <"$1")
    ! tools/check-deps >out 2>&1 || fail "$1: $2: was let through"
    grep -qF "$1:$((number)): $3" out || fail "$1: $2: no message '$3'"
    [ "$(grep -c '^[a-z]*/' out)" = 1 ] || fail "$1: $2: more than one message"
    cases=$((cases + 1))
}

refuses src/base/arena.c '#include "modules/maps.h"' \
    'base must not include "modules/maps.h" (base -> modules): base may see arch'
refuses src/sys/tasks.h '#include "modules/maps.h"' 'sys must not include "modules/maps.h"'
refuses src/modules/maps.h '#include "unwind/walk.h"' 'modules must not include "unwind/walk.h"'
refuses src/arch/arch.h '#  include "modules/maps.h"' 'arch must not include "modules/maps.h"'
refuses src/unwind/walk.h '#include "store/stacks.h"' 'unwind must not include "store/stacks.h"'
refuses src/store/stacks.h '#include "unwind/walk.h"' \
    'store must not include "unwind/walk.h" (store -> unwind): store may see sys arch base'
refuses src/kinds/cpu/cpu.h '#include "kinds/heap/heap.h"' \
    'kinds/cpu must not include "kinds/heap/heap.h" (kinds/cpu -> kinds/heap): kinds/cpu may see output'
refuses src/host/thread.c '#include "kinds/cpu/cpu.h"' 'host must not include "kinds/cpu/cpu.h"'
refuses src/host/thread.c '#include "output/file.h"' 'host must not include "output/file.h"'
refuses src/output/file.h '#include "kinds/cpu/cpu.h"' 'output must not include "kinds/cpu/cpu.h"'
refuses src/api/version.c '#include "kinds/cpu/cpu.h"' 'api must not include "kinds/cpu/cpu.h"'
refuses src/kinds.c '#include "kinds/cpu/cpu.h"' 'src must not include "kinds/cpu/cpu.h"'
refuses src/symbol/names.h '#include "profile/model.h"' 'symbol must not include "profile/model.h"'
refuses src/profile/model.h '#include "encode/proto.h"' 'profile must not include "encode/proto.h"'
refuses src/encode/proto.h '#include "host/kind.h"' 'encode must not include "host/kind.h"'
refuses src/kinds/cpu/cpu.h '#include "api/options.h"' 'kinds/cpu must not include "api/options.h"'
# An edge stays an edge in angle brackets.
refuses src/base/arena.c '#include <modules/maps.h>' 'base must not include "modules/maps.h"'
refuses src/encode/proto.h '#include "pprof_http.h"' 'encode must not include "pprof_http.h"'

refuses src/store/stacks.h '#include "../base/arena.h"' \
    'the relative include "../base/arena.h" hides its edge: write it from src/'
refuses src/base/arena.c '#include "./arena.h"' 'the relative include "./arena.h"'
refuses src/base/arena.c '#include "arena.h"' \
    'the bare include "arena.h" hides its edge: write "base/arena.h"'
refuses src/base/arena.c '#include "nowhere/file.h"' 'there is no src/nowhere/file.h'
refuses src/base/arena.c '#include HEADER' 'an include through a macro hides its edge'

refuses cmd/main.c '#include "store/stacks.h"' \
    'cmd must not include "store/stacks.h" of the library: use <pprof.h>'
refuses cmd/main.c '#include <store/stacks.h>' 'cmd must not include "store/stacks.h"'
refuses cmd/main.c '#include "../src/store/stacks.h"' 'the relative include'
refuses cmd/main.c '#include "missing.h"' '"missing.h" is no header of cmd/'
refuses cmd/base/pool.h '#include "report/graph.h"' \
    'base must not include "report/graph.h" (base -> report): base may see nothing'
refuses cmd/main.c '#include "report/graph.h"' 'cmd must not include "report/graph.h" (cmd -> report)'
refuses cmd/report/graph.c '#include "graph.h"' 'the bare include "graph.h" hides its edge: write "report/graph.h"'
refuses http/serve.c '#include "base/arena.h"' 'http must not include "base/arena.h"'
refuses bench/own.c '#include "unwind/walk.h"' 'bench must not include "unwind/walk.h"'
refuses dwarf/lines.c '#include "base/arena.h"' 'dwarf must not include "base/arena.h" of the library'
refuses cmd/verbs/verb_dump.c '#include "remote/target.h"' '"remote/target.h" is no header of cmd/'
refuses src/host/thread.c '#include "remote/dump.h"' 'there is no src/remote/dump.h'
refuses bench/own.c '#include "dwarf/lines.h"' '"dwarf/lines.h" is no header of bench/'
refuses src/output/plugin.c '#include "dwarf/lines.h"' 'there is no src/dwarf/lines.h'

# A new folder needs a row in the table.
clean_tree
put src/attic/x.c '#include "base/arena.h"'
! tools/check-deps >out 2>&1 || fail "a folder without a row was let through"
grep -qF 'src/attic/x.c:1: src/attic/ is no room that the table knows' out || fail "src/attic"

clean_tree
put cmd/attic/x.c '#include "base/pool.h"'
! tools/check-deps >out 2>&1 || fail "a folder of cmd/ without a row was let through"
grep -qF 'cmd/attic/x.c:1: cmd/attic/ is no room that the table knows' out || fail "cmd/attic"

# So does a file beside the folders of kinds.
clean_tree
put src/kinds/all.c '#include "base/arena.h"'
! tools/check-deps >out 2>&1 || fail "a file in src/kinds/ was let through"
grep -qF 'src/kinds/all.c:1: src/kinds/ is no room that the table knows' out || fail "src/kinds"

# A circle within a room.
clean_tree
put src/unwind/frame.h '#include "unwind/walk.h"'
put src/unwind/walk.c '#include "unwind/walk.h"' '#include "unwind/step.h"'
put src/unwind/step.h '#include "unwind/frame.h"'
! tools/check-deps >out 2>&1 || fail "a circle was let through"
grep -qE 'in a circle:( src/unwind/(frame|walk|step)){3}: move' out || fail "the circle"

# It looks at its own tree from wherever it is called.
clean_tree
cd /
"$tree/tools/check-deps" >"$tree/out" 2>&1 || { cd "$tree"; fail "called from / it fails"; }

cd "$tree"

# ---- Objects

# object PATH CODE: a source file, and its object where CMake would put it.
object() {
    put "src/$1" "$2"
    mkdir -p "$(dirname "objects/$1")"
    ${CC:-cc} -O1 -w -c "src/$1" -o "objects/$1.o"
}

clean_objects() {
    rm -rf objects
    object base/memory.c 'int pp_map; int pp_memory(void) { return pp_map; }'
    object host/real.c 'int pp_memory(void); extern int pp_kinds; int pp_real(void) { return pp_memory() + pp_kinds; }'
    object kinds/heap/heap.c 'int pp_real(void); int pp_kind_heap; int munmap(void) { return pp_real(); }'
    object kinds/cpu/cpu.c 'int pp_kind_cpu; int pp_cpu(void) { return pp_kind_cpu; }'
    object web/page.c 'int pp_page(void) { return 0; }'
    object kinds.c 'extern int pp_kind_heap, pp_kind_cpu; int pp_kinds; int list(void) { return pp_kind_heap + pp_kind_cpu; }'
}

# refers PATH CODE MESSAGE: with that object, exactly this is reported.
refers() {
    clean_objects
    object "$1" "$2"
    ! tools/check-deps objects >out 2>&1 || fail "$1: $2: was let through"
    grep -qF "src/$1: $3" out || fail "$1: $2: no message '$3'"
    [ "$(grep -c '^src/' out)" = 1 ] || fail "$1: $2: more than one message"
    cases=$((cases + 1))
}

clean_tree
clean_objects
object base/gone.c 'int pp_page(void); int pp_gone(void) { return pp_page(); }'
rm src/base/gone.c
tools/check-deps objects >out 2>&1 || fail "the clean objects did not pass"
grep -qF '6 objects, no forbidden reference' out || fail "the number of objects"

refers base/memory.c 'int munmap(void); int pp_memory(void) { return munmap(); }' \
    'base must not refer to munmap of src/kinds/heap/heap.c (base -> kinds/heap): base may see'
refers host/real.c 'extern int pp_kind_cpu; int pp_memory(void); int pp_real(void) { return pp_memory() + pp_kind_cpu; }' \
    'host must not refer to pp_kind_cpu of src/kinds/cpu/cpu.c (host -> kinds/cpu)'
refers kinds/cpu/cpu.c 'int pp_kind_cpu; extern int pp_kind_heap; int pp_cpu(void) { return pp_kind_heap; }' \
    'kinds/cpu must not refer to pp_kind_heap of src/kinds/heap/heap.c (kinds/cpu -> kinds/heap)'
refers kinds/heap/heap.c 'int pp_page(void); int pp_kind_heap; int munmap(void) { return pp_page(); }' \
    'kinds/heap must not refer to pp_page of src/web/page.c (kinds/heap -> web)'
refers base/memory.c '__attribute__((weak)) int pp_page(void); int pp_map; int pp_memory(void) { return pp_page != 0; }' \
    'base must not refer to pp_page of src/web/page.c (base -> web)'

echo "check-deps: the clean tree passes, $cases planted includes and references are refused"
