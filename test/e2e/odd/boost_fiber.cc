// SPDX-License-Identifier: MIT
//
// boost_fiber.cc: Boost.Fiber: in each of two threads 32 fibers on stacks of 32 KiB with a guard
// page. They compute, wait for a mutex and a condition, send through a channel, and sleep.
#include <boost/fiber/all.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fibers = boost::fibers;

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

static constexpr unsigned count = 32;
static constexpr unsigned rounds = 80;

// What the fibers of one thread share.
struct team {
    fibers::mutex mutex;
    fibers::condition_variable_any all_done;
    fibers::buffered_channel<unsigned long> channel{32};
    unsigned done = 0;
    unsigned long sum = 0;
};

static void body(unsigned number, team &all)
{
    for (unsigned round = 0; round < rounds; round++) {
        std::unique_ptr<unsigned long[]> block(new unsigned long[16 + round]);
        block[0] = compute(number + round, 6);
        all.channel.push(block[0]);
        if (round % 40 == 0) {
            boost::this_fiber::sleep_for(std::chrono::microseconds(200));
        } else {
            boost::this_fiber::yield();
        }
    }
    std::unique_lock<fibers::mutex> lock(all.mutex);
    all.done++;
    lock.unlock();
    all.all_done.notify_all();
}

static void receive(team &all)
{
    for (unsigned long value : all.channel) {
        std::lock_guard<fibers::mutex> lock(all.mutex);
        all.sum += value;
    }
}

static void run(unsigned long &sum)
{
    team all;
    std::vector<fibers::fiber> members;
    fibers::fiber receiver([&all] { receive(all); });
    for (unsigned i = 0; i < count; i++) {
        members.emplace_back(fibers::launch::post, std::allocator_arg,
                             fibers::protected_fixedsize_stack(32 * 1024),
                             [i, &all] { body(i, all); });
    }
    std::unique_lock<fibers::mutex> lock(all.mutex);
    all.all_done.wait(lock, [&all] { return all.done == count; });
    lock.unlock();
    for (auto &member : members) {
        member.join();
    }
    all.channel.close();
    receiver.join();
    sum = all.sum;
}

int main()
{
    unsigned long sums[2] = {};
    std::thread other([&sums] { run(sums[1]); });
    run(sums[0]);
    other.join();
    std::printf("%lu %lu\n", sums[0], sums[1]);
    return 42;
}
