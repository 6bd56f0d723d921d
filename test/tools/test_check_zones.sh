#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_check_zones.sh: tools/check-zones passes a clean library, and names each kind of violation.
# Works on a library of its own that is built here from a few lines.

set -eu
if ! command -v nm >/dev/null || ! command -v readelf >/dev/null; then
    echo "skipped: nm and readelf are not installed"
    exit 77
fi
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tools/zones"
cp "$SRC/tools/check-zones" "$tree/tools/"
cd "$tree"

fail() {
    echo "FAILED: $1" >&2
    echo "--- what check-zones said:" >&2
    cat out >&2
    exit 1
}

# put PATH ZONE LINE...: a source file with that zone in its header comment.
put() {
    path=$1 zone=$2
    shift 2
    mkdir -p "$(dirname "$path")"
    {
        printf '/* SPDX-License-Identifier: MIT\n *\n * A file.\n *\n'
        printf ' * Zone: %s\n */\n' "$zone"
        printf '%s\n' "$@"
    } >"$path"
}

clean_tree() {
    rm -rf src
    printf '%s  a reason\n' memcpy __errno_location _GLOBAL_OFFSET_TABLE_ >tools/zones/signal.allow
    printf 'dlsym  once\n' >tools/zones/hook.allow
    : >tools/zones/exceptions.allow
    : >tools/zones/static.allow
    printf 'getpid  a bare system call\n' >tools/zones/replaced.deny
    printf 'malloc  the allocator may be broken\n' >tools/zones/fatal.deny
    printf 'pthread_create  a hook\n' >tools/zones/exports.allow
    printf 'libc.so.6  everybody has it\n' >tools/zones/needed.allow

    put src/store/table.c 'SIGNAL.' '#include <errno.h>' '#include <string.h>' \
        'static __thread int depth __attribute__((tls_model("initial-exec")));' \
        'int pp_table_add(void *to, const void *from, unsigned long size);' \
        'int pp_table_add(void *to, const void *from, unsigned long size)' \
        '{ errno = depth++; memcpy(to, from, size); return 0; }'
    put src/store/table.h 'SIGNAL for add, NORMAL for the rest.' ''
    put src/host/thread.c 'HOOK' '#include <dlfcn.h>' \
        'int pp_table_add(void *to, const void *from, unsigned long size);' 'void *pp_real(void);' \
        'void *pp_real(void) { pp_table_add(0, 0, 0); return dlsym(RTLD_NEXT, "x"); }'
    put src/profile/snapshot.c 'NORMAL' '#include <stdlib.h>' 'void *pp_snapshot(void);' \
        'void *pp_real(void);' 'void *pp_snapshot(void) { pp_real(); return malloc(3); }'
    put src/encode/proto.c 'NORMAL, and the fatal-signal writer.' 'int pp_encode(void);' \
        'int pp_table_add(void *to, const void *from, unsigned long size);' \
        'int pp_encode(void) { return pp_table_add(0, 0, 0); }'
    put src/api/version.c 'NORMAL' 'int pp_encode(void);' \
        '__attribute__((visibility("default"))) int pprof_start(void);' \
        'int pprof_start(void) { return pp_encode(); }'
}

# build [FLAG...]: objects where CMake would put them, and the library; FLAGs are the linker's.
build() {
    rm -rf objects libpprof.so
    for file in src/*/*.c; do
        object=objects/${file#src/}.o
        mkdir -p "$(dirname "$object")"
        if cmp -s "$file" "clean/$file"; then
            cp "clean/$object" "$object"
        else
            ${CC:-cc} -O1 -g -fPIC -fvisibility=hidden -fno-stack-protector -U_FORTIFY_SOURCE \
                -D_GNU_SOURCE -c "$file" -o "$object"
        fi
    done
    ${CC:-cc} -shared -o libpprof.so objects/*/*.o "$@"
}

check() {
    tools/check-zones objects libpprof.so >out 2>&1
}

clean_tree
build
check || fail "the clean library did not pass"
mkdir clean
cp -r src objects clean/ # what did not change is not compiled again

cases=0
# refused MESSAGE [FLAG...]: the tree as it stands is refused with exactly that message.
refused() {
    message=$1
    shift
    build "$@"
    ! check || fail "let through: $message"
    grep -qF "$message" out || fail "no message '$message'"
    [ "$(wc -l <out)" = 1 ] || fail "more than one message for '$message'"
    cases=$((cases + 1))
    clean_tree
}

# ---- Zone lines

put src/store/plain.c 'SIGNAL' 'int pp_plain;'
grep -v Zone src/store/plain.c >plain && mv plain src/store/plain.c
refused "src/store/plain.c: its header comment has no line ' * Zone:"

sed -i '/Zone/d' src/store/table.h
refused "src/store/table.h: its header comment has no line ' * Zone:"

put src/store/plain.c 'the writer SIGNAL, the rest NORMAL' 'int pp_plain;'
refused "src/store/plain.c: unknown zone 'the writer SIGNAL, the rest NORMAL'"

# ---- What programs replace, in any zone

put src/store/bad.c 'NORMAL' '#include <unistd.h>' 'int pp_bad(void);' 'int pp_bad(void) { return getpid(); }'
refused 'src/store/bad.c: refers to getpid, which programs replace (tools/zones/replaced.deny): a bare system call'

# ---- SIGNAL

put src/store/bad.c 'SIGNAL' '#include <stdlib.h>' 'void *pp_bad(void);' \
    'void *pp_bad(void) { return malloc(3); }'
refused 'src/store/bad.c: zone SIGNAL, refers to malloc, which tools/zones/signal.allow does not list'

put src/store/bad.c 'SIGNAL' '#include <dlfcn.h>' 'void *pp_bad(void);' \
    'void *pp_bad(void) { return dlsym(0, "x"); }'
refused 'src/store/bad.c: zone SIGNAL, refers to dlsym'

put src/store/bad.c 'SIGNAL' 'int pause(void) __attribute__((weak));' 'int pp_bad(void);' \
    'int pp_bad(void) { return pause ? pause() : 0; }'
refused 'src/store/bad.c: zone SIGNAL, refers to pause'

put src/store/bad.c 'SIGNAL' 'void *pp_snapshot(void);' 'void *pp_bad(void);' \
    'void *pp_bad(void) { return pp_snapshot(); }'
refused 'src/store/bad.c: zone SIGNAL, refers to pp_snapshot of src/profile/snapshot.c, zone NORMAL'

put src/store/bad.c 'SIGNAL' 'void *pp_real(void);' 'void *pp_bad(void);' \
    'void *pp_bad(void) { return pp_real(); }'
refused 'src/store/bad.c: zone SIGNAL, refers to pp_real of src/host/thread.c, zone HOOK'

# ---- HOOK

put src/host/bad.c 'HOOK' '#include <stdio.h>' 'int pp_bad(void);' \
    'int pp_bad(void) { return puts("x"); }'
refused 'src/host/bad.c: zone HOOK, refers to puts, which neither'

put src/host/bad.c 'HOOK' 'int pp_encode(void);' 'int pp_bad(void);' \
    'int pp_bad(void) { return pp_encode(); }'
refused 'src/host/bad.c: zone HOOK, refers to pp_encode of src/encode/proto.c, zone NORMAL (fatal'

# ---- NORMAL, and the fatal-signal writer

put src/encode/bad.c 'NORMAL, and the fatal-signal writer.' '#include <stdlib.h>' \
    'void *pp_bad(void);' 'void *pp_bad(void) { return malloc(3); }'
refused 'src/encode/bad.c: used by the fatal-signal writer, refers to malloc: the allocator may be'

put src/encode/bad.c 'NORMAL, and the fatal-signal writer.' 'void *pp_snapshot(void);' \
    'void *pp_bad(void);' 'void *pp_bad(void) { return pp_snapshot(); }'
refused 'zone NORMAL (fatal-signal writer), refers to pp_snapshot of src/profile/snapshot.c'

# ---- Lists

echo 'calloc' >>tools/zones/signal.allow
refused 'tools/zones/signal.allow:4: calloc stands there without a reason'

# An exception holds for its file alone, and only while it is needed.
put src/store/bad.c 'SIGNAL' '#include <stdlib.h>' 'void *pp_bad(void); void *pp_snapshot(void);' \
    'void *pp_bad(void) { pp_snapshot(); return malloc(3); }'
printf 'src/store/bad.c:%s  at start-up\n' malloc pp_snapshot >tools/zones/exceptions.allow
build
check || fail "exceptions for a file were refused"
sed -i 's/bad.c:malloc/table.c:malloc/' tools/zones/exceptions.allow
! check || fail "let through: the exception of another file"
grep -qF 'src/store/bad.c: zone SIGNAL, refers to malloc' out || fail "no message on malloc"
clean_tree
echo 'src/store/table.c:malloc  at start-up' >tools/zones/exceptions.allow
refused 'exceptions.allow:1: nothing needs the exception src/store/table.c:malloc any more'

# ---- Thread-local storage

put src/profile/bad.c 'NORMAL' '__thread int pp_lazy; int *pp_bad(void);' \
    'int *pp_bad(void) { return &pp_lazy; }'
build
! check || fail "let through: general-dynamic TLS"
grep -q 'src/profile/bad.c: dynamic TLS model (R_.*TLS' out || fail "no message on the TLS model"
clean_tree

put src/profile/bad.c 'NORMAL' \
    '__thread char pp_large[300] __attribute__((tls_model("initial-exec"))); char *pp_bad(void);' \
    'char *pp_bad(void) { return pp_large; }'
refused 'bytes of thread-local storage; a host has room for 256'

# ---- The library

put src/profile/bad.c 'NORMAL' '__attribute__((visibility("default"))) int leaked_name = 3;'
refused 'libpprof.so: exports leaked_name: neither pprof_* nor in tools/zones/exports.allow'

put src/host/good.c 'NORMAL' '__attribute__((visibility("default"))) int pthread_create(void);' \
    'int pthread_create(void) { return 3; }'
build
check || fail "a hook that is listed was refused"
clean_tree

echo 'LIBPPROF_1 { global: pprof_*; };' >versions.map
build -Wl,--version-script=versions.map
! check || fail "let through: a symbol version"
grep -q 'libpprof.so: pprof_start@@LIBPPROF_1 has a version' out || fail "no message on the version"

refused 'libpprof.so: needs libm.so.6' -Wl,--no-as-needed -lm

# ---- Builds that it cannot judge

build
rm objects/store/table.c.o
! check || fail "let through: a file that was not built"
grep -q 'src/store/table.c: not built' out || fail "no message on the missing object file"

echo "check-zones: the clean library passes, $((cases + 4)) planted violations are refused"
