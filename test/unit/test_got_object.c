/* SPDX-License-Identifier: MIT
 *
 * test_got_object.c: the references of an object that is made here, whole and with tables that lead
 * elsewhere.
 */
#include "arch/linkage.h"
#include "attach/got_object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096, RELA = 0x100, SYMBOLS = 0x400, NAMES = 0x800, SLOTS = 0xc00 };

/* One page, which is all that the object has. Its addresses are relative to it. */
typedef struct made {
    char *page;
    struct dl_phdr_info info;
    ElfW(Phdr) headers[2];
    pp_got_object object;
} made;

static ElfW(Dyn) * dynamic_of(const made *m)
{
    return (ElfW(Dyn) *)(void *)m->page;
}

static ElfW(Rela) * rela_of(const made *m)
{
    return (ElfW(Rela) *)(void *)(m->page + RELA);
}

static ElfW(Sym) * symbols_of(const made *m)
{
    return (ElfW(Sym) *)(void *)(m->page + SYMBOLS);
}

/* An object with two references: a call of "malloc", and a pointer to "free". */
static void make(made *m)
{
    m->page =
        mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(m->page, MAP_FAILED);
    munmap(m->page + PAGE, PAGE); /* nothing follows */
    const ElfW(Dyn) dynamic[] = {{DT_JMPREL, {RELA}},
                                 {DT_PLTRELSZ, {sizeof(ElfW(Rela))}},
                                 {DT_RELA, {RELA + sizeof(ElfW(Rela))}},
                                 {DT_RELASZ, {sizeof(ElfW(Rela))}},
                                 {DT_SYMTAB, {SYMBOLS}},
                                 {DT_STRTAB, {NAMES}},
                                 {DT_NULL, {0}}};
    memcpy(m->page, dynamic, sizeof dynamic);
    memcpy(m->page + NAMES, "\0malloc\0free", sizeof "\0malloc\0free");
    symbols_of(m)[1] = (ElfW(Sym)){.st_name = 1};
    symbols_of(m)[2] = (ElfW(Sym)){.st_name = 8, .st_shndx = 1};
    rela_of(m)[0] = (ElfW(Rela)){SLOTS, ELF64_R_INFO(1, PP_RELOCATION_JUMP_SLOT), 0};
    rela_of(m)[1] = (ElfW(Rela)){SLOTS + 8, ELF64_R_INFO(2, PP_RELOCATION_GLOB_DAT), 0};
    m->headers[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = PAGE};
    m->headers[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_memsz = sizeof dynamic};
    m->info = (struct dl_phdr_info){.dlpi_addr = (uintptr_t)m->page,
                                    .dlpi_name = "made",
                                    .dlpi_phdr = m->headers,
                                    .dlpi_phnum = 2};
}

typedef struct seen {
    const made *of;
    unsigned calls, pointers;
} seen;

static void note(const pp_got_reference *reference, void *context)
{
    seen *s = context;
    uintptr_t offset = (uintptr_t)reference->slot - (uintptr_t)s->of->page;
    if (reference->is_call) {
        assert_string_equal(reference->name, "malloc");
        assert_true(reference->is_undefined);
        assert_int_equal(offset, SLOTS);
        s->calls++;
    } else {
        assert_string_equal(reference->name, "free");
        assert_false(reference->is_undefined);
        s->pointers++;
    }
}

/* Ten times the number of calls, and the number of pointers. */
static unsigned references_of(made *m)
{
    seen s = {.of = m};
    (void)pp_got_object_read(&m->object, &m->info);
    pp_got_object_each(&m->object, note, &s);
    munmap(m->page, PAGE);
    return 10 * s.calls + s.pointers;
}

static void both_tables_are_read(void **state)
{
    made m;
    (void)state;
    make(&m);
    assert_int_equal(references_of(&m), 11);
}

static void this_library_has_none(void **state)
{
    made m;
    (void)state;
    make(&m);
    m.info.dlpi_name = "/lib/libpprof-http.so.0";
    assert_int_equal(pp_got_object_read(&m.object, &m.info), PP_GOT_OBJECT_HAS_NONE);
    munmap(m.page, PAGE);
}

static void an_object_that_nobody_has_loaded_is_not_ready(void **state)
{
    made m;
    (void)state;
    make(&m);
    assert_int_equal(pp_got_object_read(&m.object, &m.info), PP_GOT_OBJECT_IS_NOT_READY);
    munmap(m.page, PAGE);
}

static void code_is_where_the_segments_say(void **state)
{
    made m;
    (void)state;
    make(&m);
    (void)pp_got_object_read(&m.object, &m.info);
    assert_true(pp_got_object_has_code(&m.object, (uintptr_t)m.page + 16));
    assert_false(pp_got_object_has_code(&m.object, (uintptr_t)m.page + PAGE));
    munmap(m.page, PAGE);
}

static void tables_outside_are_not_read(void **state)
{
    made m;
    (void)state;
    make(&m);
    dynamic_of(&m)[1].d_un.d_val = (size_t)PAGE * 16; /* DT_PLTRELSZ */
    assert_int_equal(references_of(&m), 1);
    make(&m);
    dynamic_of(&m)[2].d_un.d_ptr = PAGE * 5; /* DT_RELA */
    assert_int_equal(references_of(&m), 10);
    make(&m);
    dynamic_of(&m)[0].d_un.d_ptr = RELA + 1; /* DT_JMPREL */
    assert_int_equal(references_of(&m), 1);
}

static void references_outside_are_left_out(void **state)
{
    made m;
    (void)state;
    make(&m);
    rela_of(&m)[0].r_info = ELF64_R_INFO(100000, PP_RELOCATION_JUMP_SLOT);
    assert_int_equal(references_of(&m), 1);
    make(&m);
    rela_of(&m)[1].r_offset = PAGE;
    assert_int_equal(references_of(&m), 10);
    make(&m);
    rela_of(&m)[1].r_offset = SLOTS + 1;
    assert_int_equal(references_of(&m), 10);
    make(&m);
    symbols_of(&m)[1].st_name = PAGE;
    assert_int_equal(references_of(&m), 1);
}

static void a_name_without_an_end_is_left_out(void **state)
{
    made m;
    (void)state;
    make(&m);
    memset(m.page + PAGE - 8, 'x', 8);
    symbols_of(&m)[1].st_name = PAGE - 8 - NAMES;
    assert_int_equal(references_of(&m), 1);
}

static void a_dynamic_section_without_an_end_ends(void **state)
{
    made m;
    (void)state;
    make(&m);
    dynamic_of(&m)[6].d_tag = DT_DEBUG;
    memset(m.page + 7 * sizeof(ElfW(Dyn)), 0x21, RELA - 7 * sizeof(ElfW(Dyn)));
    for (size_t i = RELA; i < PAGE; i += sizeof(ElfW(Dyn))) {
        m.page[i] |= 1; /* no tag is DT_NULL */
    }
    (void)pp_got_object_read(&m.object, &m.info);
    munmap(m.page, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_tables_are_read),
        cmocka_unit_test(this_library_has_none),
        cmocka_unit_test(an_object_that_nobody_has_loaded_is_not_ready),
        cmocka_unit_test(code_is_where_the_segments_say),
        cmocka_unit_test(tables_outside_are_not_read),
        cmocka_unit_test(references_outside_are_left_out),
        cmocka_unit_test(a_name_without_an_end_is_left_out),
        cmocka_unit_test(a_dynamic_section_without_an_end_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
