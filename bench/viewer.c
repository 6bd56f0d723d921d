/* SPDX-License-Identifier: MIT
 *
 * viewer.c: what bench/viewer.sh needs.
 *
 *   viewer generate SAMPLES LOCATIONS > FILE     a profile.proto with stacks of 5 to 25 frames
 *   viewer run COMMAND...                        runs it, prints "SECONDS CPU MEGABYTES": elapsed,
 *                                                user and system time, maximum RSS
 */
#include "measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRINGS 5 /* before the names of functions */

typedef struct message {
    uint8_t bytes[512];
    size_t length;
} message;

static void put_varint(message *to, uint64_t value)
{
    do {
        to->bytes[to->length++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
}

static void put_number(message *to, unsigned field, uint64_t value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void put_bytes(message *to, unsigned field, const void *bytes, size_t length)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, length);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

/* Writes the message as a field of the profile, and empties it. */
static void write_field(unsigned field, message *from)
{
    message head = {.length = 0};

    put_varint(&head, field << 3 | 2);
    put_varint(&head, from->length);
    fwrite(head.bytes, 1, head.length, stdout);
    fwrite(from->bytes, 1, from->length, stdout);
    from->length = 0;
}

static void write_type(unsigned field, unsigned type, unsigned unit)
{
    message m = {.length = 0};

    put_number(&m, 1, type);
    put_number(&m, 2, unit);
    write_field(field, &m);
}

/* The nearer a frame is to the root, the fewer functions there are to choose from. */
static void write_samples(uint64_t count, uint64_t locations)
{
    uint64_t state = 7;
    message m = {.length = 0}, nested = {.length = 0};

    for (uint64_t i = 0; i < count; i++) {
        uint64_t depth = 5 + bench_random(&state) % 21;
        for (uint64_t frame = 0; frame < depth; frame++) {
            uint64_t choice = locations >> (frame < 12 ? frame : 12);
            put_varint(&nested, 1 + bench_random(&state) % (choice ? choice : 1));
        }
        put_bytes(&m, 1, nested.bytes, nested.length);
        nested.length = 0;
        put_varint(&nested, 1 + i % 3);
        put_varint(&nested, 10000000 * (1 + i % 3));
        put_bytes(&m, 2, nested.bytes, nested.length);
        nested.length = 0;
        write_field(2, &m);
    }
}

static void write_places(uint64_t locations)
{
    message m = {.length = 0}, nested = {.length = 0};

    for (uint64_t i = 0; i < locations; i++) {
        put_number(&m, 1, i + 1);
        put_number(&m, 3, 0x400000 + 16 * i);
        put_number(&nested, 1, i / 4 + 1);
        put_number(&nested, 2, i % 100 + 1);
        put_bytes(&m, 4, nested.bytes, nested.length);
        nested.length = 0;
        write_field(4, &m);
    }
    for (uint64_t i = 0; i <= locations / 4; i++) {
        put_number(&m, 1, i + 1);
        put_number(&m, 2, STRINGS + i);
        put_number(&m, 3, STRINGS + i);
        write_field(5, &m);
    }
}

static void write_strings(uint64_t locations)
{
    static const char *const strings[STRINGS] = {"", "samples", "count", "cpu", "nanoseconds"};
    message m = {.length = 0};

    for (unsigned i = 0; i < STRINGS; i++) {
        m.length = strlen(strings[i]);
        memcpy(m.bytes, strings[i], m.length);
        write_field(6, &m);
    }
    for (uint64_t i = 0; i <= locations / 4; i++) {
        m.length = (size_t)snprintf((char *)m.bytes, sizeof m.bytes, "function_%llu_of_a_program",
                                    (unsigned long long)i);
        write_field(6, &m);
    }
}

static int generate(uint64_t samples, uint64_t locations)
{
    write_type(1, 1, 2);
    write_type(1, 3, 4);
    write_samples(samples, locations);
    write_places(locations);
    write_type(11, 3, 4);
    write_strings(locations);
    return fflush(stdout) == 0 ? 0 : 1;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int run(char **command)
{
    uint64_t start = bench_now_ns();
    pid_t child = fork();

    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execvp(*command, command);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
        bench_fail("%s failed", *command);
    }
    printf("%.3f %.3f %.1f\n", (double)(bench_now_ns() - start) / 1e9,
           seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "generate") == 0) {
        return generate(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    }
    if (argc > 2 && strcmp(argv[1], "run") == 0) {
        return run(argv + 2);
    }
    bench_fail("usage: viewer generate SAMPLES LOCATIONS | run COMMAND...");
}
