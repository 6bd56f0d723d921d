/* SPDX-License-Identifier: MIT
 *
 * storm.cc SECONDS FOLDER LIBRARIES: everything at once that makes life hard for a profiler: forks,
 * execs, short threads, libraries that come and go (FOLDER/lib0.so and so on, each with a function
 * work()), C++ exceptions, longjmp out of deep recursion, internal loads by iconv. Each part checks
 * its own results; the exit status is 42 if all were right, else the number of the part.
 *
 * Flags: -Wno-infinite-recursion
 */
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <iconv.h>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace
{

std::atomic<bool> stop{false};
std::atomic<int> wrong{0};
const char *folder;
int libraries;

void expect(bool right, int part)
{
    if (!right) {
        wrong.store(part);
        stop.store(true);
    }
}

unsigned burn(unsigned rounds)
{
    volatile unsigned x = rounds;
    for (unsigned i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
    }
    return x;
}

int status_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return status;
}

void *fork_and_exec(void *)
{
    for (unsigned i = 0; !stop.load(); i++) {
        pid_t child = fork();
        if (child == 0) {
            switch (i % 3) {
            case 0:
                _exit(3);
            case 1:
                execl("/bin/true", "true", static_cast<char *>(nullptr));
                _exit(99);
            default:
                burn(200000);
                _exit(5);
            }
        }
        static const int expected[] = {3, 0, 5};
        int status = child > 0 ? status_of(child) : -1;
        expect(WIFEXITED(status) && WEXITSTATUS(status) == expected[i % 3], 1);

        char name[] = "false";
        char *arguments[] = {name, nullptr};
        if (posix_spawn(&child, "/bin/false", nullptr, nullptr, arguments, environ) == 0) {
            status = status_of(child);
            expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, 2);
        }
    }
    return nullptr;
}

void *short_thread(void *value)
{
    burn(50000);
    return value;
}

void *create_threads(void *)
{
    while (!stop.load()) {
        pthread_t threads[8];
        char marks[8];
        for (int i = 0; i < 8; i++) {
            expect(pthread_create(&threads[i], nullptr, short_thread, &marks[i]) == 0, 3);
        }
        for (int i = 0; i < 8; i++) {
            void *value = nullptr;
            expect(pthread_join(threads[i], &value) == 0 && value == &marks[i], 3);
        }
    }
    return nullptr;
}

void *load_libraries(void *)
{
    for (int i = 0; !stop.load(); i = (i + 1) % libraries) {
        std::string path = std::string(folder) + "/lib" + std::to_string(i) + ".so";
        void *library = dlopen(path.c_str(), RTLD_NOW);
        auto work =
            reinterpret_cast<int (*)(int)>(library != nullptr ? dlsym(library, "work") : nullptr);
        expect(work != nullptr && work(20000) == i, 4);
        expect(library != nullptr && dlclose(library) == 0, 4);
    }
    return nullptr;
}

void *convert_text(void *)
{
    static const char *const sets[] = {"UTF-16", "ISO-8859-15", "EUC-JP", "KOI8-R", "BIG5"};
    for (unsigned i = 0; !stop.load(); i++) {
        iconv_t converter = iconv_open(sets[i % 5], "UTF-8");
        char in[] = "abcdefgh";
        char out[64];
        char *from = in;
        char *to = out;
        size_t left = sizeof in - 1;
        size_t room = sizeof out;
        if (converter == reinterpret_cast<iconv_t>(-1)) {
            continue; /* a libc without its conversion modules */
        }
        expect(iconv(converter, &from, &left, &to, &room) == 0 && left == 0, 5);
        iconv_close(converter);
    }
    return nullptr;
}

int throw_from(int depth)
{
    if (depth == 0) {
        burn(300);
        throw std::runtime_error("bottom");
    }
    std::string guard(static_cast<size_t>(depth), 'x');
    return throw_from(depth - 1) + static_cast<int>(guard.size());
}

void *throw_exceptions(void *)
{
    while (!stop.load()) {
        bool caught = false;
        try {
            throw_from(30);
        } catch (const std::exception &e) {
            caught = std::strcmp(e.what(), "bottom") == 0;
        }
        expect(caught, 6);
    }
    return nullptr;
}

int jump_from(jmp_buf where, int depth)
{
    volatile char frame[200];
    frame[0] = static_cast<char>(depth);
    if (depth == 0) {
        burn(300);
        longjmp(where, 7);
    }
    return jump_from(where, depth - 1) + frame[0];
}

void *jump(void *)
{
    while (!stop.load()) {
        jmp_buf where;
        int result = setjmp(where);
        if (result == 0) {
            jump_from(where, 100);
        }
        expect(result == 7, 7);
    }
    return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: storm SECONDS FOLDER LIBRARIES\n");
        return 2;
    }
    void *(*const parts[])(void *) = {fork_and_exec, create_threads,   load_libraries,
                                      convert_text,  throw_exceptions, jump};
    pthread_t threads[sizeof parts / sizeof *parts];
    folder = argv[2];
    libraries = std::atoi(argv[3]);
    timespec end{};
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += std::atoi(argv[1]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (pthread_create(&threads[i], nullptr, parts[i], nullptr) != 0) {
            return 2;
        }
    }
    do {
        burn(100000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!stop.load() && now.tv_sec < end.tv_sec);
    stop.store(true);
    for (pthread_t thread : threads) {
        pthread_join(thread, nullptr);
    }
    return wrong.load() != 0 ? wrong.load() : 42;
}
