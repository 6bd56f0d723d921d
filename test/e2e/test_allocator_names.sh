#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_allocator_names.sh: programs that ask, by weak references or dlsym, whether an allocator is there find what they find
# without the library: nothing where there is none, and what the allocator has where there is one, which is counted.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout

cat >probe.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#define NAMES(X) X(mallocx) X(rallocx) X(xallocx) X(sdallocx) X(je_malloc) X(_rjem_malloc) X(tc_malloc) X(tc_free_sized) \
    X(mi_malloc) X(mi_heap_malloc) X(mi_free)
#define DECLARE(name) extern void *name(size_t, ...) __attribute__((weak));
NAMES(DECLARE)
static void ask(const char *name, int is_there)
{
    dlerror();
    void *found = dlsym(RTLD_DEFAULT, name);
    printf("%s weak %d dlsym %d error %d\n", name, is_there, found != NULL, dlerror() != NULL);
}
#define ASK(name) ask(#name, name != NULL);
int main(void) { NAMES(ASK) return 42; }
C

run() { # OUTPUT LIST [NAME=VALUE...] COMMAND...: preloaded with the list
    run_output=$1 run_list=$2 run_status=0
    shift 2
    timeout -s KILL 60 env LD_PRELOAD="$run_list" "$@" >"$run_output" 2>errors || run_status=$?
    expect_equal "status of $* with $run_list" 42 $run_status
    expect_equal "messages of $* with $run_list" "" "$(cat errors)"
}

found_library() { ldconfig -p 2>/dev/null | sed -n "s/.* => \(.*$1\)$/\1/p" | head -n 1; }

allocators=
for name in libjemalloc.so.2 libmimalloc.so.2 libmimalloc.so.3 libtcmalloc.so.4 libtcmalloc_minimal.so.4; do
    allocators="$allocators $(found_library $name)"
done

variant=0
while read -r flags; do
    variant=$((variant + 1))
    # shellcheck disable=SC2086 # several flags
    cc -O1 $flags -o probe.$variant probe.c -ldl
    run bare '' ./probe.$variant
    ! grep -q 'weak 1\|dlsym 1' bare || fail "an allocator is there by itself"
    for now in '' LD_BIND_NOW=1; do
        run with "$library" $now ./probe.$variant
        cmp bare with >&2 || fail "probes find something with $flags $now"
    done
    for allocator in $allocators; do
        run bare "$allocator" ./probe.$variant
        run with "$library $allocator" ./probe.$variant
        cmp bare with >&2 || fail "probes find something else with $flags and $allocator"
    done
done <<'FLAGS'
-fPIE -pie
-fPIE -pie -fno-plt
-fPIE -pie -Wl,-z,now
-fno-pie -no-pie
-fPIC -pie
FLAGS

if command -v python3 >/dev/null; then
    status_of_python=0
    preload "" python3 -c 'import ctypes, sys
sys.exit(1 if hasattr(ctypes.CDLL(None), "mallocx") else 42)' || status_of_python=$?
    expect_equal "status of ctypes" 42 $status_of_python
fi

# ---- an allocator that comes late: before it nothing, with it what it has, counted

cat >late_provider.c <<'C'
#include <stddef.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
void *_rjem_mallocx(size_t size, int flags) { return flags ? NULL : __libc_malloc(size); }
void _rjem_dallocx(void *block, int flags) { (void)flags; __libc_free(block); }
C
cat >late_user.c <<'C'
#include <stddef.h>
extern void *_rjem_mallocx(size_t, int) __attribute__((weak));
extern void _rjem_dallocx(void *, int) __attribute__((weak));
int is_there(void) { return _rjem_mallocx != NULL && _rjem_dallocx != NULL; }
void late_blocks(void)
{
    for (int i = 0; i < 1000; i++) {
        _rjem_dallocx(_rjem_mallocx(100, 0), 0);
    }
}
C
cat >strong_user.c <<'C'
#include <stddef.h>
void *mallocx(size_t, int);
void dallocx(void *, int);
/* No allocator has them: they could not be called without the library, which stands in for them. */
void strong_blocks(void) { dallocx(mallocx(100, 0), 0); }
C
cat >late.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
static void *function(const char *library, const char *name, int flags)
{
    void *handle = dlopen(library, flags);
    return handle != NULL ? dlsym(handle, name) : NULL;
}
int main(void)
{
    if (((int (*)(void))function("./early_user.so", "is_there", RTLD_NOW))()) {
        return 1;
    }
    if (dlopen("./late_provider.so", RTLD_NOW | RTLD_GLOBAL) == NULL ||
        !((int (*)(void))function("./late_user.so", "is_there", RTLD_NOW))()) {
        return 2;
    }
    ((void (*)(void))function("./late_user.so", "late_blocks", RTLD_NOW))();
    void (*strong)(void) = (void (*)(void))function("./strong_user.so", "strong_blocks", RTLD_LAZY);
    if (dlsym(RTLD_DEFAULT, "pprof_version_string") != NULL) {
        strong();
    }
    return 42;
}
C
cc -O1 -shared -fPIC -o late_provider.so late_provider.c
cc -O1 -shared -fPIC -o early_user.so late_user.c
cc -O1 -shared -fPIC -fno-builtin -o late_user.so late_user.c
cc -O1 -shared -fPIC -o strong_user.so strong_user.c
cc -O1 -o late late.c -ldl
run bare '' ./late
run with "$library" LIBPPROF="heap:1,file=$work/late.pb.gz" ./late
raw late.pb.gz
expect_equal "blocks of an allocator that came late" "1000 100000 0 0" "$(blocks_of late.pb.gz.raw late_blocks main)"

# ---- a library that the program is linked to: relocated before us, without a word on stderr

cc -O1 -o linked late.c ./late_user.so -ldl
run with "$library" ./linked
echo ok
