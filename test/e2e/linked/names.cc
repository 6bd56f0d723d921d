/* SPDX-License-Identifier: MIT
 *
 * names.cc DIRECTORY: functions with all sorts of mangled names allocate, wait and create threads;
 * the profiles heap, block, threadcreate and thread are written there as NAME.pb.gz and NAME.txt,
 * thread.debug2.txt too.
 *
 * Flags: -std=c++17
 */
#include <pprof.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static void *volatile kept[64];
static int kept_count;

static void keep(size_t size)
{
    kept[kept_count++ % 64] = malloc(size);
}

namespace
{
struct Hidden {
    Hidden()
    {
        keep(1001);
    }
    ~Hidden()
    {
        keep(1002);
    }
    void run(int)
    {
        keep(1003);
    }
};
} // namespace

namespace app
{
template <class K, class V> struct Table {
    std::map<K, V> map;
    template <class F> void each(F call)
    {
        for (auto &pair : map)
            call(pair.second);
    }
    operator std::vector<int> *()
    {
        keep(1004);
        return nullptr;
    }
    template <class T> operator T() const
    {
        keep(1005);
        return T();
    }
    bool operator<(const Table &) const
    {
        keep(1006);
        return false;
    }
    template <class T> Table &operator<<(T)
    {
        keep(1007);
        return *this;
    }
    int operator()(int) &&
    {
        keep(1008);
        return 1;
    }
    void *operator new[](size_t size)
    {
        keep(1009);
        return malloc(size);
    }
};
template <int N, class... A> void pack(A...)
{
    keep(1010);
}
void *operator""_kib(unsigned long long n)
{
    keep(1011 * n);
    return nullptr;
}
} // namespace app

/* What a Rust compiler would have made, in its two schemes. */
extern "C" __attribute__((noinline)) void
second_scheme() __asm__("_RNvMNtC3app4rustINtB2_3VecjE4push");
extern "C" __attribute__((noinline)) void first_scheme() __asm__(
    "_ZN47_$LT$app..Vec$LT$T$GT$$u20$as$u20$app..Drop$GT$4drop17h0123456789abcdefE");
void second_scheme()
{
    keep(1012);
}
void first_scheme()
{
    keep(1013);
}

static int deeper(int (*)(char), int (&)[3])
{
    const auto inner = [](int (*)(char), int(&)[3]) {
        struct Local {
            static void run(short)
            {
                keep(1014);
            }
        };
        Local::run(1);
        return [=] { keep(1015); };
    };
    int array[3] = {};
    inner(nullptr, array)();
    return 0;
}

template <class T> void wait_for(std::mutex &mutex)
{
    std::lock_guard<std::mutex> lock(mutex);
}

static void allocate()
{
    app::Table<std::string, std::vector<int>> table;
    Hidden().run(1);
    table.map["a"].resize(100000);
    table.each([](auto &vector) { vector.resize(200000); });
    std::vector<int> *vector = table;
    (void)static_cast<double>(table);
    (void)(table < table);
    table << 1 << 2.5;
    static_cast<app::Table<std::string, std::vector<int>> &&>(table)(1);
    kept[63] = new app::Table<std::string, std::vector<int>>[1];
    app::pack<3>(1, 2.5, vector);
    using app::operator""_kib;
    (void)1_kib;
    second_scheme();
    first_scheme();
    int array[3] = {};
    deeper(nullptr, array);
    std::function<void(int)>([](int n) { keep(1016 + (size_t)n); })(0);
}

/* Returns once a thread is in wait_for(), and in the kernel. */
static void wait_for_waiter()
{
    static char text[65536];
    do {
        size_t length = pprof_stack_text(text, sizeof text - 1, true);
        text[length < sizeof text ? length : sizeof text - 1] = '\0';
    } while (std::string(text).find("wait_for") == std::string::npos ||
             std::string(text).find("[futex") == std::string::npos);
}

/* Waits until another thread waits for the lock: its block is charged when it is let go. */
static void block()
{
    std::mutex mutex;
    mutex.lock();
    std::thread waiter([&mutex] { wait_for<std::map<int, int>>(mutex); });
    wait_for_waiter();
    mutex.unlock();
    waiter.join();
}

static bool write_profile(const std::string &folder, const char *name, const char *suffix,
                          int debug)
{
    FILE *file = fopen((folder + "/" + name + suffix).c_str(), "we");
    if (file == nullptr)
        return false;
    int error = pprof_profile_write(pprof_lookup(name), pprof_writer_stdio(file), debug);
    return fclose(file) == 0 && error == 0;
}

int main(int, char **argv)
{
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    allocate();
    block();
    bool good = true;
    std::mutex running;
    running.lock();
    std::thread other([&running] { wait_for<std::string>(running); });
    wait_for_waiter(); /* a thread that has not begun has no creator yet */
    for (const char *name : {"heap", "block", "threadcreate", "thread"})
        good = good &&
               write_profile(argv[1], name, ".txt", 1) && /* has not more than the next one */
               write_profile(argv[1], name, ".pb.gz", 0);
    good = good && write_profile(argv[1], "thread", ".debug2.txt", 2);
    running.unlock();
    other.join();
    return good ? 0 : 1;
}
