/* SPDX-License-Identifier: MIT
 *
 * requests.cc FILE: a server that says whose work it does, by <pprof.hpp>.
 *
 *     requests cpu.pb.gz
 *     go tool pprof -tags cpu.pb.gz                        what each tenant used
 *     go tool pprof -top -tagfocus=tenant=acme cpu.pb.gz   where
 *
 * Two tenants, one of which asks for three times the work. Half of a request is done by another
 * thread: labels go along with the work.
 */
#include <pprof.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

struct request {
    std::string tenant;
    unsigned long work;
};

static volatile unsigned long sink;

static void compute(unsigned long work)
{
    for (unsigned long i = 0; i < work; i++) {
        sink = sink * 3 + i;
    }
}

static void render(const request &r)
{
    compute(r.work / 2);
}

static void search(const request &r)
{
    const pprof::labels whose = pprof::labels::current();
    std::thread worker([&] {
        pprof::scoped_labels labels(whose); /* a pool's threads would not inherit them */
        compute(r.work / 2);
    });
    worker.join();
}

static void serve(const request &r)
{
    pprof::scoped_labels labels({{"tenant", r.tenant}});
    pprof::with_labels({{"phase", "search"}}, [&] { search(r); });
    pprof::with_labels({{"phase", "render"}}, [&] { render(r); });
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: requests FILE\n");
        return 2;
    }
    FILE *file = std::fopen(argv[1], "w");
    pprof_cpu_options options = {};
    options.size = sizeof options;
    options.hz = 1000;
    if (file == nullptr) {
        std::perror(argv[1]);
        return EXIT_FAILURE;
    }
    const int refused = pprof_start_cpu_profile_opts(pprof_writer_stdio(file), &options);
    if (refused != 0) { /* -EBUSY where LIBPPROF=cpu or `cpprof record` takes one already */
        std::fprintf(stderr, "requests: the CPU profile could not be started: %s\n",
                     std::strerror(-refused));
        return EXIT_FAILURE;
    }
    const unsigned long unit = 1000000;
    for (int i = 0; i < 20; i++) {
        serve({"acme", 9 * unit});
        serve({"zenith", 3 * unit});
    }
    int error = pprof_stop_cpu_profile();
    return std::fclose(file) != 0 || error != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
