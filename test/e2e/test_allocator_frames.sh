#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_allocator_frames.sh: heap profiles show the functions that ask the allocator for memory, not the allocator: malloc
# and its kin, operator new of each kind, a malloc of somebody else's before ours. What the program calls by such a name
# for its own use stays, and so does everything where a stack is nothing else. With and without names, and in texts.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc strip
! has_cxx || need c++

# expect_leaf RAW FUNCTION [LEAF]
expect_leaf() { expect_equal "leaf of $2 in $1" "${3:-$2}" "$(leaves_of "$1" "$2")"; }

# ---- C ----

cat >program.c <<'C'
#include <pprof.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *volatile last;
static void *(*volatile give)(size_t) = malloc; /* the compiler leaves out what it knows */
#define SITE __attribute__((noinline)) void
SITE by_malloc(void) { last = give(100); __asm__ volatile(""); }
SITE by_strdup(void) { last = strdup("a text"); __asm__ volatile(""); }
SITE by_reallocarray(void) { last = reallocarray(NULL, 10, 10); __asm__ volatile(""); }
/* Names that begin as an allocator's, and one of an allocator's that no other module can mean. */
__attribute__((noinline)) void *malloc_thing(size_t size) { void *block = give(size); __asm__ volatile(""); return block; }
SITE by_malloc_thing(void) { last = malloc_thing(100); __asm__ volatile(""); }
__attribute__((noinline, used)) static void *own_calloc(size_t size) __asm__("calloc");
static void *own_calloc(size_t size) { void *block = malloc_thing(size); block = give(size); __asm__ volatile(""); return block; }
SITE by_own_calloc(void) { last = own_calloc(100); __asm__ volatile(""); }
int main(int argc, char **argv)
{
    pthread_t thread;
    FILE *text;
    by_malloc(), by_strdup(), by_reallocarray(), by_malloc_thing(), by_own_calloc();
    if (pthread_create(&thread, NULL, (void *(*)(void *))(void *)give, (void *)54321) != 0) return 1; /* a size */
    pthread_join(thread, NULL);
    text = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (text != NULL && pprof_profile_write(pprof_lookup("allocs"), pprof_writer_stdio(text), 1) != 0) return 1;
    return text != NULL && fclose(text) != 0;
}
C
cc -g -O1 -fno-builtin -w -include stdio.h -D_GNU_SOURCE -I"$SRC/include" -o program program.c \
    -L"$BUILD/lib" -lpprof -Wl,-rpath,"$BUILD/lib" -pthread
run() { env LIBPPROF="heap:1,$1,file=$work/$2.pb.gz" ./program "$2.txt" || fail "program with $1: $?"; }
run symbolize=names names
raw names.pb.gz
expect_sites() { # RAW
    for function in by_malloc by_reallocarray; do
        expect_leaf "$1" $function
    done
    expect_equal "leaf of by_strdup in $1" strdup "$(leaves_of "$1" by_strdup | sed 's/^__//')"
    expect_leaf "$1" by_malloc_thing malloc_thing
    expect_leaf "$1" by_own_calloc "calloc malloc_thing"
}
expect_sites names.pb.gz.raw

# The thread whose function is malloc has no other frame but those that began it: all of them are shown.
of_thread() { blocks "$1" | awk -F '\t' '$1 ~ / 54321$/ { print $2 }'; }
expect_equal "leaf of the thread" malloc "$(of_thread names.pb.gz.raw)"
expect_equal "allocators at all leaves, and the calloc that is none" "calloc malloc" "$(allocators_of names.pb.gz.raw)"

# What nobody shows is not in the file: each location is in a sample, each function at a location.
raw_ids() { # PART: the ids of the samples' locations, or of those that are listed
    if [ "$1" = samples ]; then
        sed -n '/^Samples:/,/^Locations/ s/^ *[0-9 ]*[0-9]: \([0-9 ]*[0-9]\) *$/\1/p' names.pb.gz.raw | tr ' ' '\n' | sort -nu
    else
        sed -n '/^Locations/,/^Mappings/ s/^ *\([0-9]*\): 0x.*/\1/p' names.pb.gz.raw | sort -nu
    fi
}
expect_equal "ids of locations" "$(raw_ids samples)" "$(raw_ids list)"

# Without names the hook is known all the same; a reader names the others.
run symbolize=none none
go_pprof -symbolize=none -raw none.pb.gz >none.raw 2>/dev/null
hooks=$(sed -n 's/^\([0-9]*\): .*libpprof\.so.*/\1/p' none.raw)
expect_equal "locations in the library" 1 "$(sed -n '/^Locations/,/^Mappings/p' none.raw | grep -c " M=${hooks:-none} ")"
raw none.pb.gz
unset PPROF_BINARY_PATH
go_pprof -symbolize=local -raw none.pb.gz >named.raw 2>/dev/null
export PPROF_BINARY_PATH="$work/none"
expect_leaf named.raw by_malloc
expect_leaf named.raw by_malloc_thing malloc_thing

run symbolize=lines lines
raw lines.pb.gz
expect_sites lines.pb.gz.raw

# Rows of the text have all addresses; its lines are those of the profile. Only the thread's row has as many.
for text in names.txt none.txt; do
    expect_equal "rows of $text with a line for each address" 1 "$(awk '
        function count() { whole += depth > 0 && frames >= depth; depth = frames = 0 }
        /^[0-9]+: .* @ / { count(); depth = NF - 5 }
        /^#\t0x/ { frames++ }
        END { count(); print whole }' $text)"
done
first_frame() { # FILE FUNCTION: the first line of the row with that function
    awk -v name="$2" 'function emit() { if (has) print first; has = 0; first = "" }
        /^[0-9]+: .* @ / { emit() }
        /^#\t0x/ { sub(/\+0x.*/, "", $3); if (first == "") first = $3; if ($3 == name) has = 1 }
        END { emit() }' "$1" | sort -u | tr '\n' ' ' | sed 's/ $//'
}
expect_equal "first line of by_malloc" by_malloc "$(first_frame names.txt by_malloc)"
expect_equal "first lines of by_own_calloc" "calloc malloc_thing" "$(first_frame names.txt by_own_calloc)"
expect_equal "first line of the thread" malloc \
    "$(awk '/^1: 54321 / { found = 1; next } found { sub(/\+0x.*/, "", $3); print $3; exit }' names.txt)"
expect_equal "lines of hooks" 1 "$(grep -c '	malloc+0x' names.txt)"

# What readers make of it, and cpprof.
flat() { awk -v name="$1" '$6 == name { print $1 }' "$2"; }
go_pprof -symbolize=none -top -sample_index=alloc_objects -nodefraction=0 names.pb.gz >top 2>/dev/null
"$BUILD/bin/cpprof" top -n 100 --sample alloc_objects names.pb.gz >ours
for list in top ours; do
    expect_equal "blocks of by_malloc itself, $list" 1 "$(flat by_malloc $list)"
    expect_equal "blocks of malloc_thing itself, $list" 2 "$(flat malloc_thing $list)"
    expect_equal "blocks of malloc itself, $list" 1 "$(flat malloc $list)"
done

# A stripped program has places in the place of names.
cp program whole
strip program
run symbolize=names stripped
mv whole program
raw stripped.pb.gz
expect_equal "allocators at leaves of a stripped program" malloc "$(allocators_of stripped.pb.gz.raw)"
expect_equal "leaf of the thread of a stripped program" malloc "$(of_thread stripped.pb.gz.raw)"
expect_equal "leaf of strdup in a stripped program" strdup \
    "$(blocks stripped.pb.gz.raw | awk -F '\t' '$1 ~ / 7$/ { sub(/^__/, "", $2); print $2 }')"

# A malloc before ours, which calls ours.
cat >before.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (next == NULL) next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    void *block = next(size);
    __asm__ volatile("");
    return block;
}
C
cc -O1 -fno-builtin -w -shared -fPIC -o before.so before.c
env LD_PRELOAD="$work/before.so" LIBPPROF="heap:1,file=$work/before.pb.gz" ./program || fail "program with a malloc before ours: $?"
raw before.pb.gz
expect_leaf before.pb.gz.raw by_malloc
expect_leaf before.pb.gz.raw by_malloc_thing malloc_thing

# ---- C++ ----

if ! has_cxx; then
    echo ok
    exit
fi

# The C++ library's aligned forms call aligned_alloc, all others malloc.
preload "heap:1,file=$work/cxx.pb.gz" "$victims/heap_cxx"
raw cxx.pb.gz
for function in by_new by_new_array by_new_nothrow by_new_aligned by_new_aligned_nothrow freed_by_delete; do
    expect_leaf cxx.pb.gz.raw $function
done
expect_equal "allocators at leaves" "" "$(allocators_of cxx.pb.gz.raw)"

# The program's own operator new; containers are the program's callers of it.
cat >own.cc <<'C'
#include <cstdlib>
#include <new>
#include <vector>
void *operator new(std::size_t size) { void *block = std::malloc(size + 16); __asm__ volatile(""); return block; }
void *operator new[](std::size_t size) { void *block = operator new(size); __asm__ volatile(""); return block; }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }
static void *volatile last;
extern "C" __attribute__((noinline)) void by_own_new() { last = ::operator new(100); last = ::operator new[](200); }
extern "C" __attribute__((noinline)) void by_vector() { std::vector<int> v(1000); last = v.data(); }
int main() { by_own_new(); by_vector(); }
C
c++ -O0 -fno-builtin -w -o own own.cc
preload "heap:1,file=$work/own.pb.gz" ./own
raw own.pb.gz
expect_leaf own.pb.gz.raw by_own_new
expect_equal "blocks of by_own_new" "2 332 2 332" "$(blocks_of own.pb.gz.raw by_own_new main)"
leaves_of own.pb.gz.raw by_vector | grep -q 'allocate$' || fail "leaf of by_vector: $(leaves_of own.pb.gz.raw by_vector)"
expect_equal "allocators at leaves with an operator new of the program's" "" "$(allocators_of own.pb.gz.raw)"
echo ok
