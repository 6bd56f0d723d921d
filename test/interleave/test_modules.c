/* SPDX-License-Identifier: MIT
 *
 * test_modules.c: nobody reads a table of modules that has been unmapped. It has the loader of glibc.
 *
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"
#include "modules/find_object_glibc.c"
#include "modules/loader_state_glibc.c"
#include "modules/modules.c"

const struct link_map *pp_loaders_list(void)
{
    return NULL;
}

bool pp_object_find_listed(uintptr_t address, pp_found_object *found)
{
    (void)address;
    (void)found;
    return false;
}

enum { PC = 0x1000, BYTES = 0x100, TABLE_BYTES = sizeof(pp_module_table) + sizeof(pp_module) };

void *pp_memory_map(size_t bytes)
{
    return model_alloc(bytes);
}

/* Whoever reads it still has a race. */
void pp_memory_unmap(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}

static void publish(uintptr_t all_hi)
{
    pp_module_table *table = pp_memory_map(TABLE_BYTES);
    table->bytes = TABLE_BYTES;
    table->count = 1;
    table->module[0] = (pp_module){.code_lo = PC,
                                   .code_hi = PC + BYTES,
                                   .all_lo = all_hi,
                                   .all_hi = all_hi,
                                   .permanent = true};
    pp_modules_publish(table);
}

static void set_up(void)
{
    publish(1);
}

static void publish_two(void)
{
    publish(2);
    publish(3);
}

static void find_twice(void)
{
    uintptr_t before = 0;
    for (unsigned i = 0; i < 2; i++) {
        pp_module module;
        MODEL_CHECK(pp_modules_find(PC, &module));
        MODEL_CHECK(module.permanent && module.all_lo == module.all_hi && module.all_lo >= before);
        before = module.all_lo;
    }
}

static void nobody_reads(void)
{
    MODEL_CHECK(modules.readers == 0);
}

static const model_scenario publishing = {
    "publishing", set_up, {publish_two, find_twice, find_twice}, nobody_reads};

static void a_table_stays_while_it_is_read(void **state)
{
    (void)state;
    assert_holds(&publishing);
    assert_is_caught(&publishing, "pp_modules_publish", MODEL_RMW, __ATOMIC_RELEASE);
    assert_is_caught(&publishing, "pp_modules_publish", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&publishing, "search_current", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&publishing, "search_current", MODEL_RMW, __ATOMIC_ACQ_REL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_stays_while_it_is_read),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
