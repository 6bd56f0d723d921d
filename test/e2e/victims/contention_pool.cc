/* SPDX-License-Identifier: MIT
 *
 * contention_pool.cc: a pool of threads on std::mutex, std::condition_variable, std::shared_mutex
 * and std::atomic::wait, with enough memory traffic to contend an allocator's own locks; prints a
 * sum.
 *
 * Flags: -std=c++20
 */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

enum { WORKERS = 4, JOBS = 20000 };

class pool
{
  public:
    void put(int job)
    {
        std::lock_guard<std::mutex> guard(lock);
        jobs.push_back(job);
        not_empty.notify_one();
    }

    int take_job()
    {
        std::unique_lock<std::mutex> guard(lock);
        idle++;
        not_empty.wait(guard, [this] { return !jobs.empty(); });
        idle--;
        int job = jobs.front();
        jobs.pop_front();
        return job;
    }

    void wait_for_idle(int count)
    {
        for (;; std::this_thread::yield()) {
            std::lock_guard<std::mutex> guard(lock);
            if (idle == count)
                return;
        }
    }

  private:
    std::mutex lock;
    int idle = 0;
    std::condition_variable not_empty;
    std::deque<int> jobs;
};

static pool jobs;
static std::shared_mutex cache_lock;
static std::map<int, std::string> cache;
static std::atomic<long> sum;
static std::atomic<int> ready;

static void store_in_cache(int job)
{
    std::unique_lock<std::shared_mutex> guard(cache_lock);
    cache[job % 100] = std::string(static_cast<size_t>(job % 500), 'x');
}

static size_t look_in_cache(int job)
{
    std::shared_lock<std::shared_mutex> guard(cache_lock);
    auto found = cache.find(job % 100);
    return found != cache.end() ? found->second.size() : 0;
}

static std::atomic<int> arrived;

static void wait_for_start()
{
    arrived++;
    ready.wait(0);
}

static void work()
{
    wait_for_start();
    for (int job; (job = jobs.take_job()) >= 0;) {
        if (job % 10 == 0)
            store_in_cache(job);
        std::vector<char> memory(look_in_cache(job) + 1 + static_cast<size_t>(job % 3000));
        sum += job + static_cast<long>(memory[0]);
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < WORKERS; i++)
        threads.emplace_back(work);
    while (arrived < WORKERS)
        std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::milliseconds(20)); /* most wait now, or the test looks again */
    ready = 1;
    ready.notify_all();
    jobs.wait_for_idle(WORKERS);
    for (int i = 0; i < JOBS; i++)
        jobs.put(i);
    for (int i = 0; i < WORKERS; i++)
        jobs.put(-1);
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", sum.load());
    return 0;
}
