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
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The beginning of a file of /proc. */
static const char *read_file(const char *folder, const char *file) {
    static char text[1 << 20];
    char path[512];
    snprintf(path, sizeof path, "/proc/self/%s/%s", folder, file);
    FILE *opened = fopen(path, "r");
    size_t size = opened != NULL ? fread(text, 1, sizeof text - 1, opened) : 0;
    text[size] = '\0';
    if (opened != NULL) fclose(opened);
    return text;
}

/* Whether libpprof's threads, of which there is one at least, wait in their loops; `library` is loaded by them. */
static int all_wait(const char *library) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        char folder[300];
        snprintf(folder, sizeof folder, "task/%s", d->d_name);
        if (d->d_name[0] == '.' || strncmp(read_file(folder, "comm"), "libpprof", 8) != 0) continue;
        const char *call = read_file(folder, "syscall");
        long number = *call == 'r' || *call == '\0' ? -1 : strtol(call, NULL, 10);
        int waits = number == SYS_ppoll || number == SYS_futex;
#ifdef SYS_poll
        waits = waits || number == SYS_poll;
#endif
        if (!waits) { closedir(tasks); return 0; }
        count++;
    }
    closedir(tasks);
    return count > 0 && (*library == '\0' || strstr(read_file(".", "maps"), library) != NULL);
}

/* threads: "-": none; else the library that those of libpprof load */
int main(int argc, char **argv) {
    int status = 0;
    while (strcmp(argv[1], "-") != 0 && !all_wait(argv[1])) usleep(1000);
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

# check NAME OPTIONS LIBRARY: what threads of libpprof load; "-": it has none
check() {
    rm -rf "$1"
    mkdir "$1"
    expect_equal "status with $2" 42 \
        "$(status timeout -s KILL 60 env "LIBPPROF=$2,subprocesses,file=$work/$1/%k.%p.pb.gz" "LD_PRELOAD=$library" ./program "$3" ./library.so)"
    seen=0
    for profile in "$1"/*.gz; do
        raw "$profile"
        if has_text "$profile.raw" run_in_library; then
            seen=$((seen + 1))
        fi
    done
    expect_equal "children with the library's function, with $2" 4 "$seen"
}
check none cpu -
check looker wall ""
check worker cpu,interval=60s ""
check_server() { check server "cpu,http=unix:$work/socket" ""; }
check_sender() { check sender cpu,push=http://127.0.0.1:1,push-to=pyroscope,interval=60s libcurl; }
# Such a thread works now and then, which a fork may meet.
attempts 4 check_server
if ls /usr/lib/*/libcurl*.so.4 >/dev/null 2>&1; then
    attempts 4 check_sender
fi
echo ok
