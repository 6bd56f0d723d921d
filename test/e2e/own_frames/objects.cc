/* SPDX-License-Identifier: MIT
 *
 * objects.cc: as hooks.c, operator new and delete of libstdc++ in all forms.
 */
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

enum { ROUNDS = 4, SIZE = 1000, BURN_MS = 200 };

static void *volatile kept;
static volatile int length = 40;

struct alignas(64) aligned {
    char data[128];
};

typedef void site();

static void call(site *function, int rounds)
{
    for (volatile int i = 0; i < rounds; i++)
        function();
}

static void site_new()
{
    kept = new char[1];
    kept = ::operator new(SIZE);
}

static void site_new_array()
{
    kept = new char[SIZE];
}

static void site_new_nothrow()
{
    kept = ::operator new(SIZE, std::nothrow);
}

static void site_new_aligned()
{
    kept = new aligned;
}

static void site_new_aligned_array()
{
    kept = new aligned[2];
}

static void site_delete()
{
    delete[] new int[100];
    delete new aligned;
}

static void site_string()
{
    kept = new std::string(length, 'x');
}

static void site_map()
{
    auto *map = new std::map<int, std::string>;
    (*map)[1] = std::string(length, 'y');
    delete map;
}

static void site_shared()
{
    kept = new std::shared_ptr<std::string>(std::make_shared<std::string>(length, 'z'));
}

static void site_exception()
{
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception &) {
    }
}

static void burn_new()
{
    delete new std::vector<int>(10);
}

static double cpu_ms()
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main()
{
    static site *const sites[] = {
        site_new,    site_new_array, site_new_nothrow, site_new_aligned, site_new_aligned_array,
        site_delete, site_string,    site_map,         site_shared,      site_exception};
    for (site *function : sites)
        call(function, ROUNDS);
    double end = cpu_ms() + BURN_MS;
    while (cpu_ms() < end)
        call(burn_new, 100);
    return 0;
}
