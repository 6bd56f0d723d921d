/* SPDX-License-Identifier: MIT
 *
 * test_loaded_objects.c: the list of loaded objects is the loader's, with its lock and without;
 * what an object needs is found in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spare_library.h"
#include "modules/loaded_objects.h"
#include "modules/loader.h"
#include "modules/loader_state.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

typedef struct expected {
    const pp_loaded_objects *objects;
    size_t count;
} expected;

static int compare_object(struct dl_phdr_info *info, size_t size, void *context)
{
    expected *e = context;
    (void)size;
    assert_true(e->count < e->objects->count);
    const pp_loaded_object *object = &e->objects->object[e->count++];
    assert_string_equal(object->path, info->dlpi_name);
    assert_int_equal(object->symbols.bias, info->dlpi_addr);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            assert_int_equal((uintptr_t)object->symbols.dynamic,
                             info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    return 0;
}

static void compare_all(pp_loaded_objects *objects, void *context)
{
    expected e = {.objects = objects};
    dl_iterate_phdr(compare_object, &e);
    assert_int_equal(e.count, objects->count);
    *(size_t *)context = objects->count;
}

static size_t compare_list(void)
{
    size_t count = 0;
    assert_true(pp_loaded_objects_read(compare_all, &count));
    assert_true(count >= 4); /* the program, libcmocka, libc, ld.so */
    return count;
}

static void the_list_is_the_loaders(void **state)
{
    (void)state;
    const char *name = spare_library();
    size_t before = compare_list();
    void *library = dlopen(name, RTLD_NOW);
    assert_true(compare_list() > before);
    dlclose(library);
    assert_int_equal(compare_list(), before);
}

static void what_comes_later_is_not_counted_as_there_from_the_start(void **state)
{
    (void)state;
    const char *name = spare_library();
    pp_loaded_objects_begin();
    size_t before = compare_list();
    assert_int_equal(pp_loaded_objects_at_begin(), before);
    void *library = dlopen(name, RTLD_NOW);
    assert_int_equal(pp_loaded_objects_at_begin(), before);
    dlclose(library);
}

/* ---- one object ---- */

static void find_own_code(pp_loaded_objects *objects, void *context)
{
    *(size_t *)context = pp_loaded_objects_find(objects, (uintptr_t)find_own_code);
}

typedef struct look {
    uintptr_t address;
    char path[256];
    char direct[256]; /* second of the closure */
    size_t closed;
    bool has_libc;
} look;

static void look_at(pp_loaded_objects *objects, void *context)
{
    look *l = context;
    size_t at = pp_loaded_objects_find(objects, l->address);
    if (at == PP_NO_OBJECT) {
        assert_int_equal(pp_loaded_objects_close(objects, at), 0);
        return;
    }
    strncpy(l->path, objects->object[at].path, sizeof l->path - 1);
    l->closed = pp_loaded_objects_close(objects, at);
    assert_true(l->closed <= objects->count);
    assert_int_equal(objects->object[0].closure, at);
    for (size_t i = 0; i < l->closed; i++) {
        const pp_loaded_object *object = &objects->object[objects->object[i].closure];
        assert_true(object->is_in_closure);
        const char *soname = object->symbols.soname;
        l->has_libc = l->has_libc || (soname != NULL && strncmp(soname, "libc.so.6",
                                                                pp_loader_is_libc() ? 7 : 10) == 0);
        if (i == 1) {
            strncpy(l->direct, object->path, sizeof l->direct - 1);
        }
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(objects->object[i].closure, objects->object[j].closure);
        }
    }
}

static void the_program_is_the_first(void **state)
{
    (void)state;
    size_t at = PP_NO_OBJECT;
    pp_loaded_objects_read(find_own_code, &at);
    assert_int_equal(at, 0);
}

static void a_library_is_found_by_its_code_and_needs_libc(void **state)
{
    (void)state;
    const char *name = spare_library();
    void *library = dlopen(name, RTLD_NOW);
    look l = {.address = spare_code_of(library).lo};
    assert_true(pp_loaded_objects_read(look_at, &l));
    assert_string_equal(strrchr(l.path, '/') + 1, name);
    assert_true(l.has_libc);
    assert_true(l.closed >= 2);
    assert_string_not_equal(l.direct, "");
    dlclose(library);
}

static void what_libc_needs_does_not_lead_back(void **state)
{
    (void)state;
    look l = {.address = (uintptr_t)dlsym(RTLD_NEXT, "getppid")};
    assert_true(pp_loaded_objects_read(look_at, &l));
    assert_non_null(strstr(l.path, pp_loader_is_libc() ? "musl" : "libc.so"));
    assert_true(l.closed <= 2); /* itself and ld.so */
}

static void an_address_that_lies_in_no_object_is_in_none(void **state)
{
    (void)state;
    look l = {.address = (uintptr_t)&l};
    if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL) {
        skip();
    }
    assert_true(pp_loaded_objects_read(look_at, &l));
    assert_string_equal(l.path, "");
    assert_int_equal(l.closed, 0);
}

/* ---- without the lock ---- */

static void count_all(pp_loaded_objects *objects, void *context)
{
    *(size_t *)context = objects->count;
}

static void *read_beside_the_lock(void *context)
{
    pp_loaded_objects_read(count_all, context);
    return NULL;
}

/* The thread that reads is waited for by the one that has the lock. */
static int wait_for_reader(struct dl_phdr_info *info, size_t size, void *context)
{
    pthread_t thread;
    (void)info;
    (void)size;
    assert_int_equal(pthread_create(&thread, NULL, read_beside_the_lock, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return 1;
}

/* The last one: it stays so. */
static void a_suspect_loader_is_not_waited_for(void **state)
{
    (void)state;
    size_t count = 0;
    if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL) {
        skip();
    }
    pp_loader_suspect();
    assert_true(pp_loader_is_suspect());
    dl_iterate_phdr(wait_for_reader, &count);
    assert_int_equal(count, compare_list());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_the_loaders),
        cmocka_unit_test(what_comes_later_is_not_counted_as_there_from_the_start),
        cmocka_unit_test(the_program_is_the_first),
        cmocka_unit_test(a_library_is_found_by_its_code_and_needs_libc),
        cmocka_unit_test(what_libc_needs_does_not_lead_back),
        cmocka_unit_test(an_address_that_lies_in_no_object_is_in_none),
        cmocka_unit_test(a_suspect_loader_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
