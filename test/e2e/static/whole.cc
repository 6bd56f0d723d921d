// SPDX-License-Identifier: MIT
//
// whole.cc: a fully static C++ program: a map, threads, exceptions across them, a new that fails.
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::vector<int> before_main(1000, 1);

static std::map<int, std::string> *map;

extern "C" void keep_map()
{
    map = new std::map<int, std::string>;
    for (int i = 0; i < 10000; i++) {
        map->emplace(i, std::string(100, 'x'));
    }
}

int throw_some(int i)
{
    if (i % 3 == 0) {
        throw std::runtime_error("third");
    }
    return i;
}

int main()
{
    keep_map();
    int caught = 0;
    std::mutex mutex;
    std::thread thread([&] {
        for (int i = 0; i < 3000; i++) {
            try {
                throw_some(i);
            } catch (const std::exception &) {
                std::lock_guard<std::mutex> guard(mutex);
                caught++;
            }
        }
    });
    thread.join();
    volatile size_t too_much = static_cast<size_t>(1) << 62;
    try {
        std::printf("%p\n", ::operator new(too_much));
    } catch (const std::bad_alloc &) {
        std::printf("%zu in the map, %d caught, no memory\n", map->size(), caught);
    }
    return before_main[0] == 1 ? 0 : 1;
}
