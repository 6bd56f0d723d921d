#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_load_after_fork.sh: a child of fork loads a library and unloads it, and its profile has the library's functions, also
# if threads of libpprof ran in the parent: they do not make the program one with threads.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout

cat >library.c <<'C'
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
__attribute__((noinline)) void run_in_library(void) { for (double end = now() + 0.3; now() < end;) {} __asm__(""); }
C
cc -O1 -shared -fPIC -o library.so library.c
cat >program.c <<'C'
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int status = 0;
    usleep(200000); /* looks of `wall`; the children are forked at any moment between two */
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            void *library = dlopen(argv[argc - 1], RTLD_NOW);
            void (*run)(void) = library != NULL ? (void (*)(void))dlsym(library, "run_in_library") : NULL;
            if (run != NULL) run();
            if (run != NULL) dlclose(library); /* what is gone at the end has to be known before */
            return run != NULL ? 7 : 8;
        }
        if (waitpid(child, &status, 0) != child || status != 7 << 8) return 1;
        usleep(7000);
    }
    return 42;
}
C
cc -O1 -o program program.c -ldl

# check NAME OPTIONS
check() {
    mkdir "$1"
    expect_equal "status with $2" 42 \
        "$(status preload "$2,subprocesses,file=$work/$1/%k.%p.pb.gz" timeout -s KILL 60 ./program ./library.so)"
    seen=0
    for profile in "$1"/*.gz; do
        raw "$profile"
        if has_text "$profile.raw" run_in_library; then
            seen=$((seen + 1))
        fi
    done
    expect_equal "children with the library's function, with $2" 4 "$seen"
}
check none cpu
check looker wall
check worker cpu,interval=60s
echo ok
