#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_late_names.sh: operator new, and an allocator's own names, that come with dlopen. Whoever calls them
# first does not wait for the loader, which is busy with a constructor, or has been when the process was
# forked; their blocks are counted once; they may be unloaded again, and replace some forms alone.
# libc: glibc, Debian has no compiler of C++ for musl
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc c++ go timeout

run() { # ARGUMENTS...: its exit status has to be 42
    rm -f p.pb.gz
    expect_equal "status of late_names $*" 42 "$(status timeout -s KILL 60 env \
        LIBPPROF="heap:1,file=$work/p.pb.gz" LD_PRELOAD="$library" "$victims/late_names" "$@")"
    raw p.pb.gz
}

begin='extern "C" void in_constructor(void (*)());
extern "C" void use_blocks();
__attribute__((constructor)) static void begin() { in_constructor(use_blocks); }'

# With the C++ runtime that the compiler links.
cat >runtime.cc <<C
#include <new>
$begin
static void *volatile last;
static void use_all_forms()
{
    for (int i = 0; i < 1000; i++) {
        last = new char[100];
        ::operator delete(::operator new(200));
        ::operator delete[](::operator new[](300, std::nothrow), std::nothrow);
        ::operator delete(::operator new(4096, std::align_val_t(64)), std::align_val_t(64));
    }
}
extern "C" void use_blocks() { use_all_forms(); }
C
c++ -std=c++17 -O1 -fno-builtin -fno-inline -w -shared -fPIC -o runtime.so runtime.cc

for way in constructor fork bare_fork iterate; do
    run $way ./runtime.so
    found=$(blocks_of p.pb.gz.raw use_blocks)
    case $way in
    constructor) expect_equal "blocks of use_blocks" "4000 4696000 1000 100000" "$found" ;;
    *) expect_equal "blocks of a child in its parent" "0 0 0 0" "$found" ;;
    esac
done

# In the profile of the child each is counted once, too. (It does not ask the loader for the library's names.)
mkdir children
expect_equal "status of late_names fork with subprocesses" 42 "$(status timeout -s KILL 60 env \
    LIBPPROF="heap:1,subprocesses,file=$work/children/%p.pb.gz" LD_PRELOAD="$library" \
    "$victims/late_names" fork ./runtime.so)"
of_children=
for file in children/*.pb.gz; do
    raw "$file"
    of_children="$of_children $(blocks_of "$file.raw" use_in_child)"
done
case $of_children in
" 4000 4696000 1000 100000 0 0 0 0" | " 0 0 0 0 4000 4696000 1000 100000") ;;
*) fail "blocks of a child and its parent:$of_children" ;;
esac

# An operator new of the library's own, which goes with it; then another's. What frees is of the same
# library as what has allocated: blocks of the first have a header.
cat >own.cc <<C
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
$begin
void *operator new(std::size_t size)
{
    char *block = (char *)std::malloc(size + 16);
    std::memcpy(block, "of this library", 16);
    return block + 16;
}
void operator delete(void *block) noexcept
{
    if (std::memcmp((char *)block - 16, "of this library", 16) != 0) std::abort();
    std::free((char *)block - 16);
}
void operator delete(void *block, std::size_t) noexcept { operator delete(block); }
static void use_both()
{
    for (int i = 0; i < 1000; i++) ::operator delete(::operator new(100));
}
#ifdef AT_THE_END
extern "C" void use_blocks() {}
__attribute__((destructor)) static void end() { use_both(); }
#elif defined BESIDE_ANOTHER
extern "C" void use_blocks()
{
    void *block = ::operator new(100);
    void *other = dlopen("./runtime.so", RTLD_NOW);
    ((void (*)())dlsym(other, "use_blocks"))();
    ::operator delete(block);
}
#else
extern "C" void use_blocks() { use_both(); }
#endif
C
c++ -O1 -fno-builtin -fno-inline -w -shared -fPIC -o own.so own.cc
c++ -O1 -fno-builtin -fno-inline -w -shared -fPIC -DAT_THE_END -o own_at_end.so own.cc
run constructor ./own.so
expect_equal "blocks of an operator new that calls malloc" "1000 116000 0 0" \
    "$(blocks_of p.pb.gz.raw use_blocks)"
run reload ./own.so ./own.so
run reload ./own_at_end.so ./own_at_end.so
run reload ./own_at_end.so ./runtime.so
# The other library is the first to call operator delete.
c++ -O1 -fno-builtin -fno-inline -w -shared -fPIC -DBESIDE_ANOTHER -o own_beside.so own.cc
run reload ./own_beside.so
run reload ./runtime.so ./runtime.so
expect_equal "blocks of a library that comes twice" "8000 9392000 2000 200000" \
    "$(blocks_of p.pb.gz.raw use_blocks)"

# Who replaces operator new alone relies on it that all other forms call it, in a library behind us as well.
sed '/in_constructor/d; /use_blocks();$/d; /^#ifdef/,$d' own.cc >replaced.cc
cat >forms.cc <<'C'
#include <new>
static void *volatile last;
int main()
{
    for (int i = 0; i < 1000; i++) {
        last = new char[100];
        ::operator delete[](last);
        last = ::operator new[](200, std::nothrow);
        ::operator delete[](last, std::nothrow);
    }
    return 42;
}
C
c++ -O1 -fno-builtin -w -shared -fPIC -o replaced.so replaced.cc
c++ -O1 -fno-builtin -w -o forms forms.cc
for options in heap:1 heap:300; do
    expect_equal "status of forms with $options" 42 "$(status env \
        LIBPPROF="$options,file=$work/$options.pb.gz" LD_PRELOAD="$library ./replaced.so" ./forms)"
done
raw heap:1.pb.gz
expect_equal "blocks with the header of a replaced operator new" "2000 332000 0 0" \
    "$(blocks_of heap:1.pb.gz.raw main)"

# Names that are not C++: in a library that the one with the constructor was linked to. A stand-in would
# not do.
cat >provider.c <<'C'
#include <stdlib.h>
#include <string.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
void *_rjem_malloc(size_t size)
{
    char *block = __libc_malloc(size + 16);
    memcpy(block, "of the provider", 16);
    return block + 16;
}
void _rjem_free(void *block) { __libc_free((char *)block - 16); }
C
cat >user.cc <<C
#include <cstdlib>
#include <cstring>
$begin
extern "C" void *_rjem_malloc(unsigned long);
extern "C" void _rjem_free(void *);
static void *volatile last;
extern "C" void use_blocks()
{
    for (int i = 0; i < 1000; i++) {
        last = _rjem_malloc(100);
        if (std::memcmp((char *)last - 16, "of the provider", 16) != 0) std::abort();
        _rjem_free(_rjem_malloc(200));
    }
}
C
for style in gnu sysv; do
    cc -O1 -shared -fPIC -Wl,--hash-style=$style -o libprovider.so provider.c
    c++ -O1 -fno-builtin -shared -fPIC -o user.so user.cc ./libprovider.so
    run constructor ./user.so
    expect_equal "blocks by an allocator's own names" "2000 300000 1000 100000" \
        "$(blocks_of p.pb.gz.raw use_blocks)"
done

# The same in what was there from the start, to which nobody was linked.
c++ -O1 -fno-builtin -shared -fPIC -o unlinked.so user.cc
expect_equal "status with a provider that is preloaded" 42 "$(status timeout -s KILL 60 env \
    LIBPPROF="heap:1,file=$work/p.pb.gz" LD_PRELOAD="$library ./libprovider.so" \
    "$victims/late_names" constructor ./unlinked.so)"
echo ok
