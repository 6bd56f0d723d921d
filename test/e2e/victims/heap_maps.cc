/* SPDX-License-Identifier: MIT
 *
 * heap_maps.cc: maps, strings and exceptions in large numbers, from several threads; prints a sum.
 * Flags: -std=c++17
 */
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using table = std::map<std::string, std::vector<int>>;

static int throw_deep(int depth, const std::string &text)
{
    auto held = std::make_shared<std::string>(text + std::to_string(depth));
    if (depth == 0) {
        throw std::runtime_error(*held + ": at the bottom of it");
    }
    return throw_deep(depth - 1, *held) + 1;
}

static void fill_table(table &t, int from, int to)
{
    for (int i = from; i < to; i++) {
        t["key number " + std::to_string(i * 7919 % 100003)].push_back(i);
        if (i % 5 == 0) {
            t.erase(t.begin());
        }
        if (i % 50 == 0) {
            try {
                throw_deep(8, "error");
            } catch (const std::exception &e) {
                t[e.what()].push_back(i);
            }
        }
    }
}

int main()
{
    std::vector<table> tables(4);
    std::vector<std::thread> threads;
    threads.reserve(tables.size());
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&, i] { fill_table(tables[(size_t)i], i * 1000, i * 1000 + 20000); });
    }
    for (auto &t : threads) {
        t.join();
    }
    unsigned long sum = 0;
    for (const auto &t : tables) {
        for (const auto &[key, values] : t) {
            for (int value : values) {
                sum = sum * 31 + key.size() + (unsigned)value;
            }
        }
    }
    printf("%lu\n", sum);
    return 0;
}
