// SPDX-License-Identifier: MIT
//
// boost_context.cc: Boost.Context: generators on guarded stacks of 32 KiB that yield numbers, throw
// through their own frames, are abandoned half way (their stacks are unwound by an exception of
// Boost's), and move between threads.
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ctx = boost::context;

static unsigned long compute(unsigned long value, unsigned depth)
{
    volatile unsigned long here = value;
    if (depth > 0) {
        here = compute(here + depth, depth - 1);
    }
    for (unsigned i = 0; i < 1500; i++) {
        here = here * 6364136223846793005u + 1442695040888963407u;
    }
    return here;
}

// Counts how many frames were unwound.
struct guard {
    unsigned long &ends;
    ~guard()
    {
        ends++;
    }
};

static unsigned long run(unsigned seed)
{
    constexpr size_t stack_bytes = 32 * 1024;
    unsigned long sum = 0;
    unsigned long ends = 0;
    unsigned long value = 0;
    for (unsigned i = 0; i < 150; i++) {
        ctx::fiber generator{std::allocator_arg, ctx::protected_fixedsize_stack(stack_bytes),
                             [&](ctx::fiber &&caller) {
                                 guard one{ends};
                                 for (unsigned k = 0; k < 24; k++) {
                                     try {
                                         guard two{ends};
                                         value = compute(seed + i + k, 6);
                                         if (k % 5 == 0) {
                                             throw std::runtime_error(
                                                 std::string(40, 'a' + k % 20));
                                         }
                                     } catch (const std::runtime_error &e) {
                                         value += e.what()[0];
                                     }
                                     caller = std::move(caller).resume();
                                 }
                                 return std::move(caller);
                             }};
        unsigned rounds = i % 3 == 0 ? 9 : 25; // every third is abandoned
        for (unsigned k = 0; k < rounds && generator; k++) {
            generator = std::move(generator).resume();
            sum += value;
        }
    }
    return sum + ends;
}

int main()
{
    unsigned long sums[3] = {};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2; i++) {
        threads.emplace_back([&sums, i] { sums[i] = run(i); });
    }
    sums[2] = run(2);
    for (auto &thread : threads) {
        thread.join();
    }
    std::printf("%lu %lu %lu\n", sums[0], sums[1], sums[2]);
    return 42;
}
