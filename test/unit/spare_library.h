/* SPDX-License-Identifier: MIT
 *
 * spare_library.h: a shared library that is installed wherever the C library is, and that this
 * program has not loaded, for tests that load and unload one. Include it behind cmocka.h.
 */
#ifndef PP_TEST_SPARE_LIBRARY_H
#define PP_TEST_SPARE_LIBRARY_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* The name of one, or the test is skipped. */
static inline const char *spare_library(void)
{
    static const char *const names[] = {"libresolv.so.2", "libthread_db.so.1", "libanl.so.1",
                                        "libBrokenLocale.so.1", "libutil.so.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *loaded = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (loaded != NULL) {
            dlclose(loaded);
            continue;
        }
        void *library = dlopen(names[i], RTLD_NOW);
        if (library != NULL) {
            dlclose(library);
            return names[i];
        }
    }
    skip();
    return NULL;
}

typedef struct spare_code {
    const struct link_map *map;
    uintptr_t lo, hi;
} spare_code;

static inline int spare_code_visit(struct dl_phdr_info *info, size_t size, void *context)
{
    spare_code *code = context;
    (void)size;
    if (info->dlpi_addr != code->map->l_addr)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            code->lo = info->dlpi_addr + p->p_vaddr;
            code->hi = code->lo + p->p_memsz;
        }
    }
    return 1;
}

/* Where the code of a library that dlopen() returned lies. */
static inline spare_code spare_code_of(void *library)
{
    spare_code code = {NULL, 0, 0};
    dlinfo(library, RTLD_DI_LINKMAP, &code.map);
    dl_iterate_phdr(spare_code_visit, &code);
    return code;
}

#endif
