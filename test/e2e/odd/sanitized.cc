// SPDX-License-Identifier: MIT
//
// sanitized.cc [WAY]: to be built with a sanitizer: threads that allocate, wait for each other,
// throw, catch signals and sort; nothing that a sanitizer may complain about.
//
//   race, overflow, leak, shift   and then one thing that it must
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex mutex;
static std::condition_variable all_here;
static unsigned here;
static std::atomic<unsigned> signals;
static int racy;
static volatile int bits = 40;

static void count(int)
{
    signals++;
}

static unsigned long work(unsigned number)
{
    std::vector<unsigned> values;
    std::map<std::string, unsigned> words;
    unsigned seed = number + 1;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        values.push_back(seed >> 8);
    }
    std::sort(values.begin(), values.end());
    for (unsigned i = 0; i < 400; i++) {
        try {
            words["w" + std::to_string(values[i] % 97)]++;
            if (i % 50 == 0) {
                throw std::runtime_error("again");
            }
        } catch (const std::runtime_error &) {
            words["again"]++;
        }
    }
    return values[10000] + words.size();
}

static void run(unsigned number, unsigned long &sum)
{
    sum = work(number);
    pthread_kill(pthread_self(), SIGUSR1);
    std::unique_lock<std::mutex> lock(mutex);
    here++;
    all_here.notify_all();
    all_here.wait(lock, [] { return here == 4; });
}

static void in_a_child()
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        std::string *text = new std::string(1000, 'x');
        _exit(text->size() == 1000 ? 7 : 8);
    }
    int fork_error = errno;
    pid_t ended = child > 0 ? waitpid(child, &status, 0) : -1;
    if (child > 0 && ended == child && WIFEXITED(status)) {
        std::printf("child %d\n", WEXITSTATUS(status));
    } else { // each way to fail looks different
        std::printf("child: fork %s, waitpid %s, status %#x\n",
                    child > 0 ? "succeeded" : std::strerror(fork_error),
                    ended > 0 ? "succeeded" : std::strerror(errno), status);
    }
}

static void misbehave(const char *way)
{
    if (std::strcmp(way, "race") == 0) {
        std::thread one([] { racy++; });
        std::thread two([] { racy++; });
        one.join();
        two.join();
    } else if (std::strcmp(way, "overflow") == 0) {
        char *volatile block = new char[10];
        block[10] = 1;
        delete[] block;
    } else if (std::strcmp(way, "shift") == 0) {
        std::printf("%d\n", 1 << bits);
    } else if (std::strcmp(way, "leak") == 0) {
        char *volatile block = new char[1234];
        block[0] = 1;
        block = nullptr;
    }
}

int main(int argc, char **argv)
{
    unsigned long sums[4] = {};
    std::vector<std::thread> threads;
    std::signal(SIGUSR1, count);
    in_a_child();
    for (unsigned i = 0; i < 4; i++) {
        threads.emplace_back(run, i, std::ref(sums[i]));
    }
    for (auto &thread : threads) {
        thread.join();
    }
    std::printf("%lu %lu %lu %lu, %u signals\n", sums[0], sums[1], sums[2], sums[3],
                signals.load());
    std::fflush(stdout);
    if (argc > 1) {
        misbehave(argv[1]);
    }
    return 42;
}
