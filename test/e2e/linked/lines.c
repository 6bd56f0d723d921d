/* SPDX-License-Identifier: MIT
 *
 * lines.c FOLDER [OPTIONS]: burns, allocates, waits and counts in functions that were inlined
 * twice, and writes to the folder what its profiles say: NAME.pb.gz, NAME.txt, NAME.debug2.txt.
 * `OPTIONS` are for pprof_configure().
 *
 *   outer_KIND <- middle_KIND (inlined) <- inner_KIND (inlined, from lines_inline.h)
 */
#include "lines_inline.h"
#include "must.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static pprof_profile *things;
static void *kept[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

INLINED unsigned middle_burn(unsigned x)
{
    return inner_burn(x, 20000) ^ 5;
}

INLINED void *middle_allocate(size_t size)
{
    return inner_allocate(size + 1);
}

INLINED void middle_wait(void)
{
    pthread_mutex_lock(&mutex);
    inner_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

INLINED void middle_add(int number)
{
    inner_add(things, &kept[number]);
}

unsigned outer_burn(unsigned x)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < end) {
        x += middle_burn(x);
    }
    return x;
}

void outer_allocate(void)
{
    for (int i = 0; i < 64; i++) {
        kept[i] = middle_allocate(100000);
    }
}

void outer_wait(void)
{
    middle_wait();
}

void outer_add(void)
{
    for (int i = 0; i < 3; i++) {
        middle_add(i);
    }
}

static int open_in_folder(const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0, path);
    return fd;
}

static void write_profile(const char *name)
{
    static const char *const suffixes[] = {".pb.gz", ".txt", ".debug2.txt"};
    for (int debug = 0; debug <= 2; debug++) {
        int fd = open_in_folder(name, suffixes[debug]);
        check(pprof_profile_write(pprof_lookup(name), pprof_writer_fd(fd), debug) == 0, name);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 2;
    }
    folder = argv[1];
    check(argc < 3 || pprof_configure(argv[2]) == 0, "the options");
    things = pprof_new_profile("example.com/things");
    check(things != NULL, "the profile");
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    int cpu = open_in_folder("cpu", ".pb.gz");
    const pprof_cpu_options options = {.size = sizeof options, .hz = 1000};
    check(pprof_start_cpu_profile_opts(pprof_writer_fd(cpu), &options) == 0, "the CPU profile");
    unsigned x = outer_burn(1);
    check(pprof_stop_cpu_profile() == 0, "the CPU profile");
    outer_allocate();
    outer_wait();
    outer_add();
    folder = argv[1];
    write_profile("heap");
    write_profile("block");
    write_profile("goroutine");
    check(mkdirat(AT_FDCWD, "example.com", 0700) == 0 || errno == EEXIST, "example.com");
    write_profile("example.com/things");
    return x == 0;
}
