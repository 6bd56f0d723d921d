/* SPDX-License-Identifier: MIT
 *
 * got_object.h: the references of one loaded object to functions, and the slots that the loader
 * fills in for them (attach/got.h).
 *
 * The tables of an object are not trusted: a reader checks that each address is in a segment of the
 * object, and that its page is there (the file may have become shorter).
 *
 * Zone: NORMAL. Only inside dl_iterate_phdr, so that the object stays.
 */
#ifndef PP_ATTACH_GOT_OBJECT_H
#define PP_ATTACH_GOT_OBJECT_H

#include "sys/loaded_symbols.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_GOT_TABLES = 2, PP_GOT_PAGES = 64 };

typedef struct pp_got_object {
    const struct dl_phdr_info *info;
    pp_loaded_symbols symbols;
    const ElfW(Rela) * tables[PP_GOT_TABLES]; /* DT_RELA, DT_JMPREL */
    size_t counts[PP_GOT_TABLES];
    uintptr_t pages[PP_GOT_PAGES]; /* that are known to be there, hashed */
} pp_got_object;

typedef struct pp_got_reference {
    uintptr_t *slot;
    const char *name;
    uint32_t symbol;   /* its index */
    bool is_call;      /* of the linkage table: the loader may fill it in later */
    bool is_undefined; /* the object has no definition of its own */
} pp_got_reference;

typedef enum pp_got_object_state {
    PP_GOT_OBJECT_HAS_NONE,
    PP_GOT_OBJECT_IS_NOT_READY, /* another thread is loading it */
    PP_GOT_OBJECT_IS_THERE
} pp_got_object_state;

/* Finds the tables. An object of this library has none. */
pp_got_object_state pp_got_object_read(pp_got_object *o, const struct dl_phdr_info *info);

/* Whether the loader has relocated the object with this dynamic section. */
bool pp_got_object_is_ready(const ElfW(Dyn) * dynamic);

/* Calls `visit` for each reference that has a name. */
typedef void pp_got_visit(const pp_got_reference *reference, void *context);
void pp_got_object_each(pp_got_object *o, pp_got_visit *visit, void *context);

/* Whether the address is in code of the object. */
bool pp_got_object_has_code(const pp_got_object *o, uintptr_t address);

#endif
