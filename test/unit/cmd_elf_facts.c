/* SPDX-License-Identifier: MIT
 *
 * cmd_elf_facts.c: the facts of this test's own file, and of files that are damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "doctor/elf_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 64 /* an ELF header */ };

typedef struct copy {
    char path[64];
    uint8_t *bytes;
    size_t size;
} copy;

static copy copy_of_self(void)
{
    copy c = {.path = "/tmp/cmd_elf_facts.XXXXXX"};
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat info;

    assert_int_equal(fstat(self, &info), 0);
    c.size = (size_t)info.st_size;
    c.bytes = malloc(c.size);
    assert_int_equal(read(self, c.bytes, c.size), c.size);
    close(self);
    int fd = mkstemp(c.path);
    assert_true(fd >= 0);
    close(fd);
    return c;
}

static int facts_of(const copy *c, size_t size, cp_elf_facts *facts)
{
    FILE *file = fopen(c->path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(c->bytes, 1, size, file), size);
    fclose(file);
    return cp_elf_facts_read(c->path, facts);
}

static void end_copy(copy *c)
{
    unlink(c->path);
    free(c->bytes);
}

static void a_program_has_a_loader_and_symbols(void **state)
{
    cp_elf_facts facts;

    (void)state;
    assert_int_equal(cp_elf_facts_read("/proc/self/exe", &facts), 0);
    const char *slash = strrchr(facts.loader, '/');
    assert_non_null(slash); /* ld-linux-x86-64.so.2, ld-musl-x86_64.so.1 */
    assert_memory_equal(slash, "/ld-", strlen("/ld-"));
    assert_true(facts.has_symbols);
    assert_true(facts.entry != 0);
    assert_false(facts.is_go);
}

static void other_files_are_refused(void **state)
{
    cp_elf_facts facts;

    (void)state;
    assert_int_equal(cp_elf_facts_read("/nowhere", &facts), -ENOENT);
    assert_int_equal(cp_elf_facts_read("/dev/null", &facts), -ENOEXEC);
    assert_int_equal(cp_elf_facts_read("/etc/passwd", &facts), -ENOEXEC);
    assert_int_equal(cp_elf_facts_read("/", &facts), -ENOEXEC);
}

static void a_file_may_end_anywhere(void **state)
{
    copy c = copy_of_self();
    cp_elf_facts facts;

    (void)state;
    for (size_t size = 1; size < c.size; size += size < 4 * HEAD ? 1 : c.size / 61) {
        int status = facts_of(&c, size, &facts);
        assert_true(status == (size < HEAD ? -ENOEXEC : 0));
    }
    end_copy(&c);
}

/* Each byte of the header, and 20 000 of the tables, becomes what it should not be. */
static void bytes_may_be_wrong(void **state)
{
    copy c = copy_of_self();
    cp_elf_facts facts;
    uint64_t tables;
    uint32_t random = 1;

    (void)state;
    for (size_t i = 0; i < HEAD; i++) {
        uint8_t right = c.bytes[i];
        c.bytes[i] ^= 0xff;
        facts_of(&c, c.size, &facts);
        c.bytes[i] = right;
    }
    memcpy(&tables, c.bytes + 40, sizeof tables); /* e_shoff */
    assert_true(tables < c.size);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 100; i++) {
            random = random * 1664525 + 1013904223;
            c.bytes[tables + random % (c.size - tables)] = (uint8_t)(random >> 24);
        }
        facts_of(&c, c.size, &facts);
    }
    end_copy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_has_a_loader_and_symbols),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_file_may_end_anywhere),
        cmocka_unit_test(bytes_may_be_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
