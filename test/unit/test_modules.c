/* SPDX-License-Identifier: MIT
 *
 * test_modules.c: whose code an address is, and who may go away; the loader at work beside it.
 *
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spare_library.h"
#include "api/preload.h"
#include "modules/modules.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static void assert_finds(uintptr_t pc)
{
    pp_module module;
    assert_true(pp_modules_find(pc, &module));
    assert_in_range(pc, module.code_lo, module.code_hi - 1);
    if (module.eh_frame_hdr != 0)
        assert_in_range(module.eh_frame_hdr, module.cfi_lo, module.cfi_hi - 1);
}

static void assert_finds_nothing(uintptr_t pc)
{
    pp_module module;
    assert_false(pp_modules_find(pc, &module));
}

static bool is_permanent(uintptr_t pc)
{
    pp_module module = {.permanent = false};
    assert_true(pp_modules_find(pc, &module));
    return module.permanent;
}

/* ---- what is loaded ---- */

static int check_object(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t header = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        const uintptr_t places[] = {start, start + p->p_memsz / 2, start + p->p_memsz - 1};
        for (size_t j = 0; j < 3; j++) {
            pp_module module;
            assert_finds(places[j]);
            pp_modules_find(places[j], &module);
            assert_int_equal(module.eh_frame_hdr, header);
        }
        (*(int *)context)++;
    }
    return 0;
}

static void code_of_every_object_is_found(void **state)
{
    (void)state;
    int segments = 0;
    pp_modules_refresh();
    dl_iterate_phdr(check_object, &segments);
    assert_in_range(segments, 4, 1000); /* this program, libc, libz, cmocka, ld.so */
}

static void what_is_no_code_is_not_found(void **state)
{
    (void)state;
    static int data;
    int local = 0;
    void *heap = malloc(100);
    pp_modules_refresh();
    assert_finds_nothing(0);
    assert_finds_nothing(4096);
    assert_finds_nothing((uintptr_t)&local);
    assert_finds_nothing((uintptr_t)heap);
    assert_finds_nothing(UINTPTR_MAX);
    assert_finds_nothing(UINTPTR_MAX / 2);
    (void)data;
    free(heap);
}

static void what_the_program_needs_is_permanent(void **state)
{
    (void)state;
    pp_modules_refresh();
    assert_true(is_permanent((uintptr_t)what_the_program_needs_is_permanent));
    assert_true(is_permanent((uintptr_t)dlsym(RTLD_DEFAULT, "malloc_usable_size")));
    assert_true(is_permanent((uintptr_t)zlibVersion)); /* of libz, or linked in */
    assert_true(is_permanent((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests")));
    assert_true(is_permanent((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"))); /* ld.so */
}

static void the_vdso_is_permanent(void **state)
{
    (void)state;
    uintptr_t image = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    if (image == 0)
        skip();
    pp_modules_refresh();
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Phdr) *segments = (const void *)(image + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X))
            assert_true(is_permanent(image + segments[i].p_offset + segments[i].p_filesz / 2));
    }
}

/* ---- loading and unloading ---- */

static void a_loaded_library_is_found_until_it_goes(void **state)
{
    (void)state;
    const char *name = spare_library();
    for (int refresh = 0; refresh <= 1; refresh++) {
        pp_modules_refresh();
        void *library = dlopen(name, RTLD_NOW);
        assert_non_null(library);
        spare_code code = spare_code_of(library);
        if (refresh)
            pp_modules_refresh();
        assert_finds(code.lo);
        assert_finds(code.hi - 1);
        assert_false(is_permanent(code.lo));
        dlclose(library);
        assert_finds_nothing(code.lo);
        pp_modules_refresh();
        assert_finds_nothing(code.lo);
    }
}

static void loading_again_gives_the_same_answers(void **state)
{
    (void)state;
    const char *name = spare_library();
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(name, RTLD_NOW);
        spare_code code = spare_code_of(library);
        if (i % 3 == 0)
            pp_modules_refresh();
        assert_false(is_permanent(code.lo));
        assert_true(is_permanent((uintptr_t)dlsym(RTLD_DEFAULT, "malloc_usable_size")));
        dlclose(library);
        if (i % 5 == 0)
            pp_modules_refresh();
    }
}

/* ---- mappings ---- */

static const pp_mapping *mapping_of(const pp_mapping *all, size_t count, uintptr_t address)
{
    for (size_t i = 0; i < count; i++) {
        if (address >= all[i].start && address < all[i].limit)
            return &all[i];
    }
    return NULL;
}

static void mappings_begin_with_the_program_and_ascend(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_mapping *all = NULL;
    size_t count = 0;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    pp_modules_refresh();
    assert_int_equal(pp_modules_mappings(&arena, &all, &count), 0);
    assert_in_range(count, 4, 10000);
    assert_string_equal(all[0].path, self);
    assert_ptr_equal(mapping_of(all, count, (uintptr_t)mapping_of), &all[0]);
    for (size_t i = 0; i < count; i++) {
        assert_true(all[i].start < all[i].limit);
        assert_int_equal(all[i].start % 4096, 0);
        assert_int_equal(all[i].limit % 4096, 0);
        assert_non_null(all[i].path);
        if (i >= 2)
            assert_true(all[i].start >= all[i - 1].limit);
    }
    const pp_mapping *libc = mapping_of(all, count, (uintptr_t)dlsym(RTLD_DEFAULT, "a64l"));
    assert_non_null(libc);
    assert_non_null(strstr(libc->path, "libc"));
    assert_int_not_equal(libc->build_id_size, 0);
    pp_arena_release(&arena);
}

static void code_without_a_file_has_a_mapping(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_mapping *all = NULL;
    size_t count = 0;
    void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(jit, MAP_FAILED);
    assert_int_equal(pp_modules_mappings(&arena, &all, &count), 0);
    const pp_mapping *m = mapping_of(all, count, (uintptr_t)jit);
    assert_non_null(m);
    assert_string_equal(m->path, "");
    assert_int_equal(m->build_id_size, 0);
    munmap(jit, 4096);
    pp_arena_release(&arena);
}

static void a_library_that_went_keeps_its_mapping(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_mapping *all = NULL;
    size_t count = 0;
    const char *name = spare_library();
    void *library = dlopen(name, RTLD_NOW);
    spare_code code = spare_code_of(library);
    pp_modules_refresh();
    dlclose(library);
    assert_int_equal(pp_modules_mappings(&arena, &all, &count), 0);
    const pp_mapping *m = mapping_of(all, count, code.lo);
    assert_non_null(m);
    assert_non_null(strstr(m->path, name));
    pp_arena_release(&arena);
}

/* ---- beside the loader ---- */

enum { LOADS = 1500 };

static bool loader_finished;

static void *load_and_unload(void *name)
{
    for (int i = 0; i < LOADS; i++) {
        alarm(100); /* for one of them: some machines are slow */
        void *library = dlopen(name, RTLD_NOW);
        if (library != NULL)
            dlclose(library);
    }
    alarm(0);
    __atomic_store_n(&loader_finished, true, __ATOMIC_RELEASE);
    return NULL;
}

static void *refresh_all_the_time(void *context)
{
    (void)context;
    while (!__atomic_load_n(&loader_finished, __ATOMIC_ACQUIRE))
        pp_modules_refresh();
    return NULL;
}

static void *find_all_the_time(void *context)
{
    unsigned long wrong = 0;
    uintptr_t libc = (uintptr_t)dlsym(RTLD_DEFAULT, "a64l");
    while (!__atomic_load_n(&loader_finished, __ATOMIC_ACQUIRE)) {
        pp_module module;
        wrong += !pp_modules_find(libc, &module) || !module.permanent;
        wrong += !pp_modules_find((uintptr_t)find_all_the_time, &module) || !module.permanent;
        wrong += pp_modules_find((uintptr_t)context, &module) && module.permanent;
    }
    return (void *)wrong;
}

/* ThreadSanitizer does not see the locks that the loader takes, only what they protect. */
static void skip_without_loader_locks(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

/* The loader's two locks are taken in one order by everybody, or this never ends. */
static void the_loader_is_not_locked_out(void **state)
{
    (void)state;
    skip_without_loader_locks();
    pthread_t loader, refresher, finders[2];
    const char *name = spare_library();
    void *library = dlopen(name, RTLD_NOW);
    spare_code code = spare_code_of(library);
    dlclose(library);
    pp_modules_refresh();
    loader_finished = false;
    assert_int_equal(pthread_create(&loader, NULL, load_and_unload, (void *)(uintptr_t)name), 0);
    assert_int_equal(pthread_create(&refresher, NULL, refresh_all_the_time, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&finders[i], NULL, find_all_the_time, (void *)code.lo), 0);
    pthread_join(loader, NULL);
    pthread_join(refresher, NULL);
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        pthread_join(finders[i], &wrong);
        assert_null(wrong);
    }
}

/* The child inherits the loader's lock as taken by a thread that it does not have:
 * it must not ask. */
static void a_child_forked_beside_a_scan_works(void **state)
{
    (void)state;
    skip_without_loader_locks();
    pthread_t loader, refresher;
    const char *name = spare_library();
    loader_finished = false;
    assert_int_equal(pthread_create(&loader, NULL, load_and_unload, (void *)(uintptr_t)name), 0);
    assert_int_equal(pthread_create(&refresher, NULL, refresh_all_the_time, NULL), 0);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            pp_module module;
            alarm(30);
            pp_modules_refresh();
            bool good = pp_modules_find((uintptr_t)a_child_forked_beside_a_scan_works, &module);
            _exit(good ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    pthread_join(loader, NULL);
    pthread_join(refresher, NULL);
}

int main(void)
{
    pp_preload_link();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_every_object_is_found),
        cmocka_unit_test(what_is_no_code_is_not_found),
        cmocka_unit_test(what_the_program_needs_is_permanent),
        cmocka_unit_test(the_vdso_is_permanent),
        cmocka_unit_test(a_loaded_library_is_found_until_it_goes),
        cmocka_unit_test(loading_again_gives_the_same_answers),
        cmocka_unit_test(mappings_begin_with_the_program_and_ascend),
        cmocka_unit_test(code_without_a_file_has_a_mapping),
        cmocka_unit_test(a_library_that_went_keeps_its_mapping),
        cmocka_unit_test(the_loader_is_not_locked_out),
        cmocka_unit_test(a_child_forked_beside_a_scan_works),
    };
    zlibVersion(); /* so that libz is needed */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
