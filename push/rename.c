/* SPDX-License-Identifier: MIT
 *
 * rename.c: see rename.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/rename.h"

#include "push/names.h"
#include "push/pprof.h"

#include <string.h>

/* A new string for a word that is not plain; else the same. */
static int64_t rename_word(push_pprof *p, int64_t word, push_memory *memory)
{
    const ProtobufCBinaryData *old = &p->string_table[word];
    char *text = push_memory_array(memory, old->len + 1, 1);
    char *name = push_memory_array(memory, PUSH_NAME_BYTES, 1);
    if (text == NULL || name == NULL || old->len == 0) {
        return word;
    }
    memcpy(text, old->data, old->len);
    push_name_of_label(text, name);
    if (strlen(name) == old->len && memcmp(name, old->data, old->len) == 0) {
        return word;
    }
    p->string_table[p->n_string_table] = (ProtobufCBinaryData){strlen(name), (uint8_t *)name};
    return (int64_t)p->n_string_table++;
}

static void rename_type(push_pprof *p, Push__Pprof__ValueType *type, push_memory *memory)
{
    if (type != NULL) {
        type->type = rename_word(p, type->type, memory);
        type->unit = rename_word(p, type->unit, memory);
    }
}

static void rename_all(push_pprof *p, push_memory *memory)
{
    size_t room = p->n_string_table + 2 * p->n_sample_type + 2;
    ProtobufCBinaryData *strings = push_memory_array(memory, room, sizeof *strings);
    if (strings == NULL) {
        return;
    }
    memcpy(strings, p->string_table, p->n_string_table * sizeof *strings);
    p->string_table = strings;
    for (size_t i = 0; i < p->n_sample_type; i++) {
        rename_type(p, p->sample_type[i], memory);
    }
    rename_type(p, p->period_type, memory);
}

static push_entry *make_entry(const push_entry *from, const push_pprof *p)
{
    push_body packed = PUSH_BODY_INIT;
    push_profile profile = from->profile;
    char kind[PUSH_NAME_BYTES];
    push_name_of_kind(profile.kind, kind);
    push_pprof_write(p, &packed);
    profile.kind = kind;
    profile.data = packed.data;
    profile.size = packed.size;
    push_entry *entry = packed.failed ? NULL : push_entry_new(&profile);
    push_body_release(&packed);
    return entry;
}

static bool is_plain(const char *kind)
{
    char name[PUSH_NAME_BYTES];
    push_name_of_label(kind, name);
    return strcmp(kind, name) == 0;
}

push_entry *push_rename_types(push_entry *entry)
{
    push_memory memory;
    if (is_plain(entry->profile.kind)) {
        return entry;
    }
    push_memory_init(&memory);
    push_pprof *p = push_pprof_read(entry->profile.data, entry->profile.size, &memory);
    push_entry *renamed = NULL;
    if (p != NULL) {
        rename_all(p, &memory);
        renamed = memory.failed ? NULL : make_entry(entry, p);
    }
    push_memory_release(&memory);
    if (p == NULL) {
        return entry; /* the server may understand it */
    }
    push_entry_free(entry);
    return renamed;
}
