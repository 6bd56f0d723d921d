/* SPDX-License-Identifier: MIT
 *
 * pprof.c: see pprof.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/pprof.h"

#include <string.h>
#include <zlib.h>

enum { GZIP = 16 + 15, PLAIN_MAX = 256 << 20 };

static bool is_gzip(const uint8_t *data, size_t size)
{
    return size > 18 && data[0] == 0x1f && data[1] == 0x8b;
}

uint64_t push_pprof_plain_size(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    if (!is_gzip(bytes, size)) {
        return size;
    }
    const uint8_t *end = bytes + size;
    return end[-4] | (uint64_t)end[-3] << 8 | (uint64_t)end[-2] << 16 | (uint64_t)end[-1] << 24;
}

static bool inflate_all(const uint8_t *data, size_t size, push_body *plain)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    int status = inflateInit2(&z, GZIP) == Z_OK ? Z_OK : Z_MEM_ERROR;
    if (status != Z_OK) {
        return false;
    }
    while (status == Z_OK && plain->size < PLAIN_MAX) {
        size_t room = plain->size + (64 << 10);
        uint8_t *place = push_body_extend(plain, room);
        if (place == NULL) {
            break;
        }
        z.next_out = place;
        z.avail_out = (uInt)room;
        status = inflate(&z, Z_NO_FLUSH);
        plain->size -= z.avail_out;
    }
    inflateEnd(&z);
    return status == Z_STREAM_END;
}

/* ---- references ---- */

typedef struct limits {
    int64_t strings;
    uint64_t mappings, locations, functions;
} limits;

static bool is_text(const limits *l, int64_t index)
{
    return index >= 0 && index < l->strings;
}

static bool is_type(const limits *l, const Push__Pprof__ValueType *type)
{
    return type == NULL || (is_text(l, type->type) && is_text(l, type->unit));
}

static bool is_sample(const limits *l, const push_pprof *p, const Push__Pprof__Sample *s)
{
    bool is_good = s->n_value == p->n_sample_type;
    for (size_t i = 0; i < s->n_location_id && is_good; i++) {
        is_good = s->location_id[i] >= 1 && s->location_id[i] <= l->locations;
    }
    for (size_t i = 0; i < s->n_label && is_good; i++) {
        is_good = is_text(l, s->label[i]->key) && is_text(l, s->label[i]->str) &&
                  is_text(l, s->label[i]->num_unit);
    }
    return is_good;
}

static bool is_location(const limits *l, const Push__Pprof__Location *location)
{
    bool is_good = location->mapping_id <= l->mappings;
    for (size_t i = 0; i < location->n_line && is_good; i++) {
        is_good = location->line[i]->function_id <= l->functions;
    }
    return is_good;
}

static bool is_consistent(const push_pprof *p)
{
    const limits l = {(int64_t)p->n_string_table, p->n_mapping, p->n_location, p->n_function};
    bool is_good = l.strings > 0 && p->n_sample_type > 0 && is_type(&l, p->period_type) &&
                   is_text(&l, p->default_sample_type) && is_text(&l, p->drop_frames) &&
                   is_text(&l, p->keep_frames) && is_text(&l, p->doc_url);
    for (size_t i = 0; i < p->n_sample_type && is_good; i++) {
        is_good = is_type(&l, p->sample_type[i]);
    }
    for (size_t i = 0; i < p->n_comment && is_good; i++) {
        is_good = is_text(&l, p->comment[i]);
    }
    for (size_t i = 0; i < p->n_sample && is_good; i++) {
        is_good = is_sample(&l, p, p->sample[i]);
    }
    for (size_t i = 0; i < p->n_mapping && is_good; i++) {
        const Push__Pprof__Mapping *m = p->mapping[i];
        is_good = m->id == i + 1 && is_text(&l, m->filename) && is_text(&l, m->build_id);
    }
    for (size_t i = 0; i < p->n_location && is_good; i++) {
        is_good = p->location[i]->id == i + 1 && is_location(&l, p->location[i]);
    }
    for (size_t i = 0; i < p->n_function && is_good; i++) {
        const Push__Pprof__Function *f = p->function[i];
        is_good = f->id == i + 1 && is_text(&l, f->name) && is_text(&l, f->system_name) &&
                  is_text(&l, f->filename);
    }
    return is_good;
}

push_pprof *push_pprof_read(const void *data, size_t size, push_memory *memory)
{
    push_body plain = PUSH_BODY_INIT;
    push_pprof *profile = NULL;
    if (!is_gzip(data, size)) {
        profile = push__pprof__profile__unpack(&memory->allocator, size, data);
    } else if (inflate_all(data, size, &plain)) {
        profile = push__pprof__profile__unpack(&memory->allocator, plain.size, plain.data);
    }
    push_body_release(&plain);
    return profile != NULL && is_consistent(profile) ? profile : NULL;
}

/* ---- writing ---- */

static void deflate_all(push_body *plain, push_body *body)
{
    z_stream z = {.next_in = plain->data, .avail_in = (uInt)plain->size};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        body->failed = true;
        return;
    }
    size_t room = deflateBound(&z, plain->size);
    uint8_t *place = push_body_extend(body, room);
    if (place != NULL) {
        z.next_out = place;
        z.avail_out = (uInt)room;
        body->failed = deflate(&z, Z_FINISH) != Z_STREAM_END;
        body->size -= z.avail_out;
    }
    deflateEnd(&z);
}

void push_pprof_write(const push_pprof *profile, push_body *body)
{
    push_body plain = PUSH_BODY_INIT;
    uint8_t *place = push_body_extend(&plain, push__pprof__profile__get_packed_size(profile));
    if (place != NULL) {
        push__pprof__profile__pack(profile, place);
        deflate_all(&plain, body);
    } else {
        body->failed = true;
    }
    push_body_release(&plain);
}
