/* SPDX-License-Identifier: MIT
 *
 * heap_cxx.cc: operator new and delete in every form, a named function for each; exceptions thrown
 * by operator new, new_handlers, a std::map of strings.
 *
 * usage: heap_cxx [throw]     throw: operator new fails, too (not every allocator survives that)
 *
 * Flags: -std=c++17 -fno-builtin
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

enum { BLOCKS = 1000 };

struct alignas(64) wide {
    char bytes[4096];
};

static void *volatile sink;

extern "C" {

void by_new(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = ::operator new(1000);
    }
}

void by_new_array(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = new char[2000];
    }
}

void by_new_nothrow(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = new (std::nothrow) char[500];
        sink = ::operator new(500, std::nothrow);
    }
}

void by_new_aligned(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = new wide;
        sink = new wide[1];
        if (reinterpret_cast<uintptr_t>(sink) % 64 != 0) {
            exit(3);
        }
    }
}

void by_new_aligned_nothrow(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = new (std::nothrow) wide;
        sink = new (std::nothrow) wide[1];
    }
}

void freed_by_delete(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        sink = ::operator new(100);
        ::operator delete(sink);
        sink = ::operator new(100);
        ::operator delete(sink, std::size_t(100));
        sink = ::operator new[](100);
        ::operator delete[](sink);
        sink = ::operator new[](100);
        ::operator delete[](sink, std::size_t(100));
        sink = ::operator new(100, std::nothrow);
        ::operator delete(sink, std::nothrow);
        sink = ::operator new[](100, std::nothrow);
        ::operator delete[](sink, std::nothrow);
    }
}

void freed_by_delete_aligned(void)
{
    const std::align_val_t line = std::align_val_t(64);
    for (int i = 0; i < BLOCKS; i++) {
        sink = ::operator new(128, line);
        ::operator delete(sink, line);
        sink = ::operator new(128, line);
        ::operator delete(sink, std::size_t(128), line);
        sink = ::operator new[](128, line);
        ::operator delete[](sink, line);
        sink = ::operator new[](128, line);
        ::operator delete[](sink, std::size_t(128), line);
        sink = ::operator new(128, line, std::nothrow);
        ::operator delete(sink, line, std::nothrow);
        sink = ::operator new[](128, line, std::nothrow);
        ::operator delete[](sink, line, std::nothrow);
    }
}

void by_map(void)
{
    std::map<std::string, std::vector<int>> map;
    for (int i = 0; i < BLOCKS; i++) {
        map[std::to_string(i) + " is a number, and this is a long text"].resize(i);
    }
    if (map.size() != BLOCKS) {
        exit(3);
    }
}
}

/* ---- failing ---- */

static int handled;

static void handler()
{
    if (++handled == 3) {
        std::set_new_handler(nullptr);
    }
}

static void fail()
{
    volatile std::size_t huge = PTRDIFF_MAX - 4096;
    int thrown = 0;
    for (int i = 0; i < 100; i++) {
        try {
            sink = ::operator new(huge);
        } catch (const std::bad_alloc &) {
            thrown++;
        }
        try {
            sink = ::operator new[](huge);
        } catch (const std::bad_alloc &) {
            thrown++;
        }
        if (::operator new(huge, std::nothrow) != nullptr) {
            exit(3);
        }
    }
    std::set_new_handler(handler);
    try {
        sink = ::operator new(huge);
    } catch (const std::bad_alloc &) {
        thrown++;
    }
    std::printf("thrown %d, handled %d\n", thrown, handled);
}

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "throw") == 0) {
        fail();
    }
    by_new();
    by_new_array();
    by_new_nothrow();
    by_new_aligned();
    by_new_aligned_nothrow();
    freed_by_delete();
    freed_by_delete_aligned();
    by_map();
    return 0;
}
