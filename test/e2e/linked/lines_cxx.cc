/* SPDX-License-Identifier: MIT
 *
 * lines_cxx.cc FOLDER: what lines.c does, in methods, templates and a lambda.
 */
#include "lines_inline.h"

#include <pprof.h>

#include <cstdio>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace shop
{

class Till
{
  public:
    explicit Till(pprof_profile *profile) : things(profile)
    {
    }
    unsigned burn(unsigned x);
    template <class Size> void *keep(Size size);
    void wait();
    void add();

  private:
    __attribute__((always_inline)) unsigned turn(unsigned x) const
    {
        return inner_burn(x, 20000) ^ 5;
    }
    template <class Size> __attribute__((always_inline)) void *take(Size size) const
    {
        return inner_allocate((size_t)size + 1);
    }
    pprof_profile *things;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

__attribute__((noinline)) unsigned Till::burn(unsigned x)
{
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5;
    while (std::clock() < end) {
        x += turn(x);
    }
    return x;
}

template <class Size> __attribute__((noinline)) void *Till::keep(Size size)
{
    return take(size);
}

__attribute__((noinline)) void Till::wait()
{
    const auto waits = [this]() __attribute__((always_inline))
    {
        inner_wait(&condition, &mutex);
    };
    pthread_mutex_lock(&mutex);
    waits();
    pthread_mutex_unlock(&mutex);
}

namespace
{
__attribute__((noinline)) void add_anonymously(pprof_profile *things, void *value)
{
    inner_add(things, value);
}
} // namespace

__attribute__((noinline)) void Till::add()
{
    add_anonymously(things, this);
}

} // namespace shop

static int open_in(const std::string &folder, const char *name)
{
    return open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static bool write_profile(const std::string &folder, const char *name)
{
    int fd = open_in(folder, (std::string(name) + ".pb.gz").c_str());
    bool good = pprof_profile_write(pprof_lookup(name), pprof_writer_fd(fd), 0) == 0;
    close(fd);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 2;
    }
    const std::string folder = argv[1];
    shop::Till till(pprof_new_profile("things"));
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    pprof_cpu_options options = {};
    options.size = sizeof options;
    options.hz = 1000;
    bool good =
        pprof_start_cpu_profile_opts(pprof_writer_fd(open_in(folder, "cpu.pb.gz")), &options) == 0;
    unsigned x = till.burn(1);
    good = good && pprof_stop_cpu_profile() == 0;
    good = good && till.keep(100000L) != nullptr;
    till.wait();
    till.add();
    for (const char *name : {"heap", "block", "things"}) {
        good = good && write_profile(folder, name);
    }
    return good && x != 0 ? 0 : 1;
}
