/* SPDX-License-Identifier: MIT
 *
 * otlp.c: requests of OTLP profiles over HTTP, in protobuf. The signal is alpha: proto/otlp.proto says which
 * version this is.
 *
 *   profile.proto              ExportProfilesServiceRequest
 *   n sample types      -->    n profiles of one type, which share a dictionary
 *   strings, mappings,  -->    tables of the dictionary: entry 0 is empty, and each other one is used
 *   locations, stacks
 *   labels              -->    attributes of samples; those of the service: of the resource
 *
 * Tested by: unit.cmd_push_formats, e2e.push
 */
#include "push/format.h"
#include "push/pprof.h"

#include <otlp.pb-c.h>

#include <errno.h>
#include <string.h>

/* How much a table may grow: indices are of 32 bits. */
enum { TABLE_MAX = 1 << 26, ID_BYTES = 16 };

/* Finds equal keys: stacks and labels. */
typedef struct finder {
    int32_t *heads; /* of chains: index; 0: none */
    int32_t *next;
    size_t mask;
} finder;

typedef struct translation {
    push_memory memory;
    const push_entry *entry;
    const push_pprof *from;
    Push__Otlp__Dictionary to;
    /* The index that an entry of the profile has in the dictionary; 0: not yet. */
    int32_t *strings, *functions, *locations, *mappings;
    finder stacks, attributes;
    int32_t *sample_stacks; /* of each sample of the profile */
    Push__Otlp__KeyValueAndUnit *build_id;
} translation;

static void *array(translation *t, size_t count, size_t size)
{
    return push_memory_array(&t->memory, count, size);
}

/* ---- strings ---- */

static ProtobufCBinaryData *add_string(translation *t)
{
    return &t->to.string_table[t->to.n_string_table++];
}

static int32_t string_of(translation *t, int64_t index)
{
    int32_t *place = &t->strings[index];
    if (index > 0 && *place == 0 && t->from->string_table[index].len > 0) {
        *place = (int32_t)t->to.n_string_table;
        *add_string(t) = t->from->string_table[index];
    }
    return *place;
}

static int32_t own_string(translation *t, const char *text)
{
    int32_t index = (int32_t)t->to.n_string_table;
    *add_string(t) = (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
    return index;
}

/* ---- attributes ---- */

static uint64_t hash_of(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

static void init_finder(translation *t, finder *f, size_t count)
{
    size_t heads = 16;
    while (heads < count) {
        heads *= 2;
    }
    *f = (finder){array(t, heads, sizeof *f->heads), array(t, count + 2, sizeof *f->next),
                  heads - 1};
}

static void put(finder *f, uint64_t hash, int32_t index)
{
    f->next[index] = f->heads[hash & f->mask];
    f->heads[hash & f->mask] = index;
}

static Push__Otlp__AnyValue *value_of(translation *t, const Push__Pprof__Label *label)
{
    Push__Otlp__AnyValue *value = array(t, 1, sizeof *value);
    if (value == NULL) {
        return NULL;
    }
    *value = (Push__Otlp__AnyValue)PUSH__OTLP__ANY_VALUE__INIT;
    if (label->str == 0) {
        value->value_case = PUSH__OTLP__ANY_VALUE__VALUE_INT_VALUE;
        value->int_value = label->num;
        return value;
    }
    const ProtobufCBinaryData *text = &t->from->string_table[label->str];
    char *copy = array(t, text->len + 1, 1);
    if (copy != NULL) {
        memcpy(copy, text->data, text->len);
    }
    value->value_case = PUSH__OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value->string_value = copy;
    return copy != NULL ? value : NULL;
}

static Push__Otlp__KeyValueAndUnit *new_attribute(translation *t, int32_t key,
                                                  Push__Otlp__AnyValue *value, int32_t unit)
{
    Push__Otlp__KeyValueAndUnit *attribute = array(t, 1, sizeof *attribute);
    if (attribute != NULL && value != NULL) {
        *attribute = (Push__Otlp__KeyValueAndUnit)PUSH__OTLP__KEY_VALUE_AND_UNIT__INIT;
        attribute->key_strindex = key;
        attribute->value = value;
        attribute->unit_strindex = unit;
        t->to.attribute_table[t->to.n_attribute_table++] = attribute;
    }
    return attribute;
}

static bool is_attribute(translation *t, int32_t index, const Push__Pprof__Label *label)
{
    const Push__Otlp__KeyValueAndUnit *a = t->to.attribute_table[index];
    if (a->key_strindex != t->strings[label->key]) {
        return false;
    }
    if (label->str == 0) {
        return a->value->value_case == PUSH__OTLP__ANY_VALUE__VALUE_INT_VALUE &&
               a->value->int_value == label->num && a->unit_strindex == t->strings[label->num_unit];
    }
    const ProtobufCBinaryData *text = &t->from->string_table[label->str];
    return a->value->value_case == PUSH__OTLP__ANY_VALUE__VALUE_STRING_VALUE &&
           strlen(a->value->string_value) == text->len &&
           memcmp(a->value->string_value, text->data, text->len) == 0;
}

static int32_t attribute_of(translation *t, const Push__Pprof__Label *label)
{
    uint64_t hash = hash_of(hash_of(hash_of(1, (uint64_t)label->key), (uint64_t)label->str),
                            (uint64_t)label->num);
    int32_t key = string_of(t, label->key);
    int32_t unit = label->str == 0 ? string_of(t, label->num_unit) : 0;
    for (int32_t i = t->attributes.heads[hash & t->attributes.mask]; i != 0;
         i = t->attributes.next[i]) {
        if (is_attribute(t, i, label)) {
            return i;
        }
    }
    int32_t index = (int32_t)t->to.n_attribute_table;
    if (new_attribute(t, key, value_of(t, label), unit) == NULL || t->memory.failed) {
        return 0;
    }
    put(&t->attributes, hash, index);
    return index;
}

/* An attribute with two texts of our own. */
static int32_t text_attribute(translation *t, int32_t key, char *text)
{
    int32_t index = (int32_t)t->to.n_attribute_table;
    Push__Otlp__AnyValue *value = array(t, 1, sizeof *value);
    if (value != NULL) {
        *value = (Push__Otlp__AnyValue)PUSH__OTLP__ANY_VALUE__INIT;
        value->value_case = PUSH__OTLP__ANY_VALUE__VALUE_STRING_VALUE;
        value->string_value = text;
    }
    return new_attribute(t, key, value, 0) != NULL ? index : 0;
}

/* ---- mappings, functions, locations ---- */

static void add_build_id(translation *t, Push__Otlp__Mapping *to, int64_t build_id)
{
    static const char key[] = "process.executable.build_id.gnu";
    const ProtobufCBinaryData *text = &t->from->string_table[build_id];
    char *copy = array(t, text->len + 1, 1);
    int32_t *list = array(t, 1, sizeof *list);
    if (copy == NULL || list == NULL || text->len == 0) {
        return;
    }
    memcpy(copy, text->data, text->len);
    if (t->build_id == NULL) {
        list[0] = text_attribute(t, own_string(t, key), copy);
        t->build_id = t->memory.failed ? NULL : t->to.attribute_table[list[0]];
    } else {
        list[0] = text_attribute(t, t->build_id->key_strindex, copy);
    }
    to->attribute_indices = list;
    to->n_attribute_indices = 1;
}

static int32_t mapping_of(translation *t, uint64_t id)
{
    Push__Otlp__Mapping *to = id != 0 && t->mappings[id] == 0 ? array(t, 1, sizeof *to) : NULL;
    if (to != NULL) {
        const Push__Pprof__Mapping *from = t->from->mapping[id - 1];
        *to = (Push__Otlp__Mapping)PUSH__OTLP__MAPPING__INIT;
        to->memory_start = from->memory_start;
        to->memory_limit = from->memory_limit;
        to->file_offset = from->file_offset;
        to->filename_strindex = string_of(t, from->filename);
        add_build_id(t, to, from->build_id);
        t->mappings[id] = (int32_t)t->to.n_mapping_table;
        t->to.mapping_table[t->to.n_mapping_table++] = to;
    }
    return t->mappings[id];
}

static int32_t function_of(translation *t, uint64_t id)
{
    Push__Otlp__Function *to = id != 0 && t->functions[id] == 0 ? array(t, 1, sizeof *to) : NULL;
    if (to != NULL) {
        const Push__Pprof__Function *from = t->from->function[id - 1];
        *to = (Push__Otlp__Function)PUSH__OTLP__FUNCTION__INIT;
        to->name_strindex = string_of(t, from->name);
        to->system_name_strindex = string_of(t, from->system_name);
        to->filename_strindex = string_of(t, from->filename);
        to->start_line = from->start_line;
        t->functions[id] = (int32_t)t->to.n_function_table;
        t->to.function_table[t->to.n_function_table++] = to;
    }
    return t->functions[id];
}

static void add_lines(translation *t, const Push__Pprof__Location *from, Push__Otlp__Location *to)
{
    Push__Otlp__Line *lines = array(t, from->n_line, sizeof *lines);
    to->lines = array(t, from->n_line, sizeof(void *));
    for (size_t i = 0; lines != NULL && to->lines != NULL && i < from->n_line; i++) {
        lines[i] = (Push__Otlp__Line)PUSH__OTLP__LINE__INIT;
        lines[i].function_index = function_of(t, from->line[i]->function_id);
        lines[i].line = from->line[i]->line;
        lines[i].column = from->line[i]->column;
        to->lines[to->n_lines++] = &lines[i];
    }
}

static int32_t location_of(translation *t, uint64_t id)
{
    Push__Otlp__Location *to = t->locations[id] == 0 ? array(t, 1, sizeof *to) : NULL;
    if (to != NULL) {
        const Push__Pprof__Location *from = t->from->location[id - 1];
        *to = (Push__Otlp__Location)PUSH__OTLP__LOCATION__INIT;
        to->mapping_index = mapping_of(t, from->mapping_id);
        to->address = from->address;
        add_lines(t, from, to);
        t->locations[id] = (int32_t)t->to.n_location_table;
        t->to.location_table[t->to.n_location_table++] = to;
    }
    return t->locations[id];
}

/* ---- stacks ---- */

static bool is_stack(const Push__Otlp__Stack *stack, const int32_t *indices, size_t count)
{
    return stack->n_location_indices == count &&
           memcmp(stack->location_indices, indices, count * sizeof *indices) == 0;
}

static int32_t stack_of(translation *t, const Push__Pprof__Sample *sample)
{
    size_t count = sample->n_location_id;
    int32_t *indices = array(t, count, sizeof *indices);
    Push__Otlp__Stack *stack = array(t, 1, sizeof *stack);
    uint64_t hash = 1;
    if (count == 0 || indices == NULL || stack == NULL) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        indices[i] = location_of(t, sample->location_id[i]);
        hash = hash_of(hash, (uint64_t)indices[i]);
    }
    for (int32_t i = t->stacks.heads[hash & t->stacks.mask]; i != 0; i = t->stacks.next[i]) {
        if (is_stack(t->to.stack_table[i], indices, count)) {
            return i;
        }
    }
    *stack = (Push__Otlp__Stack)PUSH__OTLP__STACK__INIT;
    stack->location_indices = indices;
    stack->n_location_indices = count;
    int32_t index = (int32_t)t->to.n_stack_table;
    t->to.stack_table[t->to.n_stack_table++] = stack;
    put(&t->stacks, hash, index);
    return index;
}

/* ---- profiles ---- */

static void add_sample(translation *t, size_t i, size_t type, Push__Otlp__Profile *to)
{
    const Push__Pprof__Sample *from = t->from->sample[i];
    Push__Otlp__Sample *sample = array(t, 1, sizeof *sample);
    int32_t *attributes = array(t, from->n_label, sizeof *attributes);
    if (sample == NULL || attributes == NULL || from->value[type] == 0) {
        return;
    }
    if (t->sample_stacks[i] == 0) {
        t->sample_stacks[i] = stack_of(t, from);
    }
    *sample = (Push__Otlp__Sample)PUSH__OTLP__SAMPLE__INIT;
    sample->stack_index = t->sample_stacks[i];
    for (size_t k = 0; k < from->n_label; k++) {
        attributes[k] = attribute_of(t, from->label[k]);
    }
    sample->attribute_indices = attributes;
    sample->n_attribute_indices = from->n_label;
    sample->values = &from->value[type];
    sample->n_values = 1;
    to->samples[to->n_samples++] = sample;
}

static Push__Otlp__ValueType *type_of(translation *t, const Push__Pprof__ValueType *from)
{
    Push__Otlp__ValueType *to = from != NULL ? array(t, 1, sizeof *to) : NULL;
    if (to != NULL) {
        *to = (Push__Otlp__ValueType)PUSH__OTLP__VALUE_TYPE__INIT;
        to->type_strindex = string_of(t, from->type);
        to->unit_strindex = string_of(t, from->unit);
    }
    return to;
}

/* The same profile has the same id when it is sent again. */
static void set_id(translation *t, size_t type, Push__Otlp__Profile *to)
{
    uint64_t words[2] = {hash_of(2, type), hash_of(3, type)};
    for (size_t i = 0; i < t->entry->size; i++) {
        words[i & 1] = hash_of(words[i & 1], t->entry->bytes[i]);
    }
    to->profile_id.data = array(t, 1, ID_BYTES);
    if (to->profile_id.data != NULL) {
        memcpy(to->profile_id.data, words, ID_BYTES);
        to->profile_id.data[0] |= 1; /* 0 means none */
        to->profile_id.len = ID_BYTES;
    }
}

static Push__Otlp__Profile *profile_of(translation *t, size_t type, int32_t *kind)
{
    Push__Otlp__Profile *to = array(t, 1, sizeof *to);
    if (to == NULL) {
        return NULL;
    }
    *to = (Push__Otlp__Profile)PUSH__OTLP__PROFILE__INIT;
    to->sample_type = type_of(t, t->from->sample_type[type]);
    to->period_type = type_of(t, t->from->period_type);
    to->period = t->from->period;
    to->time_unix_nano = (uint64_t)t->from->time_nanos;
    to->duration_nano = (uint64_t)t->from->duration_nanos;
    to->attribute_indices = kind;
    to->n_attribute_indices = 1;
    set_id(t, type, to);
    to->samples = array(t, t->from->n_sample, sizeof(void *));
    for (size_t i = 0; to->samples != NULL && i < t->from->n_sample; i++) {
        add_sample(t, i, type, to);
    }
    return to;
}

/* ---- the request ---- */

static void *empty_entry(translation *t, const void *empty, size_t size)
{
    void *entry = array(t, 1, size);
    return entry != NULL ? memcpy(entry, empty, size) : NULL;
}

/* Entry 0 of each table. */
static void add_empty_entries(translation *t)
{
    static const Push__Otlp__Mapping mapping = PUSH__OTLP__MAPPING__INIT;
    static const Push__Otlp__Location location = PUSH__OTLP__LOCATION__INIT;
    static const Push__Otlp__Function function = PUSH__OTLP__FUNCTION__INIT;
    static const Push__Otlp__Stack stack = PUSH__OTLP__STACK__INIT;
    static const Push__Otlp__Link link = PUSH__OTLP__LINK__INIT;
    static const Push__Otlp__KeyValueAndUnit attribute = PUSH__OTLP__KEY_VALUE_AND_UNIT__INIT;
    Push__Otlp__Dictionary *to = &t->to;
    to->mapping_table[to->n_mapping_table++] = empty_entry(t, &mapping, sizeof mapping);
    to->location_table[to->n_location_table++] = empty_entry(t, &location, sizeof location);
    to->function_table[to->n_function_table++] = empty_entry(t, &function, sizeof function);
    to->stack_table[to->n_stack_table++] = empty_entry(t, &stack, sizeof stack);
    to->link_table[to->n_link_table++] = empty_entry(t, &link, sizeof link);
    to->attribute_table[to->n_attribute_table++] = empty_entry(t, &attribute, sizeof attribute);
    own_string(t, "");
}

/* Makes room in all tables, and their first entries. */
static bool begin(translation *t)
{
    const push_pprof *p = t->from;
    size_t labels = 0;
    for (size_t i = 0; i < p->n_sample; i++) {
        labels += p->sample[i]->n_label;
    }
    size_t attributes = labels + p->n_mapping + 2;
    if (p->n_string_table > TABLE_MAX || p->n_location > TABLE_MAX || attributes > TABLE_MAX) {
        return false;
    }
    t->to = (Push__Otlp__Dictionary)PUSH__OTLP__DICTIONARY__INIT;
    t->strings = array(t, p->n_string_table, sizeof *t->strings);
    t->functions = array(t, p->n_function + 1, sizeof *t->functions);
    t->locations = array(t, p->n_location + 1, sizeof *t->locations);
    t->mappings = array(t, p->n_mapping + 1, sizeof *t->mappings);
    t->sample_stacks = array(t, p->n_sample, sizeof *t->sample_stacks);
    init_finder(t, &t->stacks, p->n_sample);
    init_finder(t, &t->attributes, attributes);
    t->to.string_table = array(t, p->n_string_table + 4, sizeof *t->to.string_table);
    t->to.mapping_table = array(t, p->n_mapping + 1, sizeof(void *));
    t->to.location_table = array(t, p->n_location + 1, sizeof(void *));
    t->to.function_table = array(t, p->n_function + 1, sizeof(void *));
    t->to.stack_table = array(t, p->n_sample + 1, sizeof(void *));
    t->to.attribute_table = array(t, attributes + 1, sizeof(void *));
    t->to.link_table = array(t, 1, sizeof(void *));
    if (t->memory.failed) {
        return false;
    }
    add_empty_entries(t);
    return !t->memory.failed;
}

static Push__Otlp__KeyValue *resource_attribute(translation *t, const push_label *label)
{
    Push__Otlp__KeyValue *pair = array(t, 1, sizeof *pair);
    Push__Otlp__AnyValue *value = array(t, 1, sizeof *value);
    if (pair == NULL || value == NULL) {
        return NULL;
    }
    *value = (Push__Otlp__AnyValue)PUSH__OTLP__ANY_VALUE__INIT;
    value->value_case = PUSH__OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value->string_value = (char *)(uintptr_t)label->value;
    *pair = (Push__Otlp__KeyValue)PUSH__OTLP__KEY_VALUE__INIT;
    pair->key = (char *)(uintptr_t)label->name;
    pair->value = value;
    return pair;
}

static bool has_values(const push_pprof *p, size_t type)
{
    size_t i = 0;
    while (i < p->n_sample && p->sample[i]->value[type] == 0) {
        i++;
    }
    return i < p->n_sample;
}

/* The service's labels, and the profiles. */
static void fill(translation *t, Push__Otlp__Resource *resource, Push__Otlp__ScopeProfiles *scope)
{
    const push_profile *p = &t->entry->profile;
    int32_t *kind = array(t, 1, sizeof *kind);
    resource->attributes = array(t, p->label_count, sizeof(void *));
    scope->profiles = array(t, t->from->n_sample_type, sizeof(void *));
    if (t->memory.failed) {
        return;
    }
    for (size_t i = 0; i < p->label_count; i++) {
        resource->attributes[resource->n_attributes++] = resource_attribute(t, &p->labels[i]);
    }
    *kind = text_attribute(t, own_string(t, "libpprof.kind"), (char *)(uintptr_t)p->kind);
    for (size_t i = 0; i < t->from->n_sample_type; i++) {
        if (has_values(t->from, i)) {
            scope->profiles[scope->n_profiles++] = profile_of(t, i, kind);
        }
    }
}

static void write_request(translation *t, push_body *body)
{
    Push__Otlp__Request request = PUSH__OTLP__REQUEST__INIT;
    Push__Otlp__ResourceProfiles profiles = PUSH__OTLP__RESOURCE_PROFILES__INIT;
    Push__Otlp__ResourceProfiles *profiles_list[] = {&profiles};
    Push__Otlp__Resource resource = PUSH__OTLP__RESOURCE__INIT;
    Push__Otlp__ScopeProfiles scope_profiles = PUSH__OTLP__SCOPE_PROFILES__INIT;
    Push__Otlp__ScopeProfiles *scope_list[] = {&scope_profiles};
    Push__Otlp__Scope scope = PUSH__OTLP__SCOPE__INIT;
    char name[] = "libpprof";
    scope.name = name;
    scope_profiles.scope = &scope;
    profiles.resource = &resource;
    profiles.scope_profiles = scope_list;
    profiles.n_scope_profiles = 1;
    request.resource_profiles = profiles_list;
    request.n_resource_profiles = 1;
    request.dictionary = &t->to;
    fill(t, &resource, &scope_profiles);
    size_t size = t->memory.failed ? 0 : push__otlp__request__get_packed_size(&request);
    uint8_t *place = size > 0 ? push_body_extend(body, size) : NULL;
    if (place != NULL) {
        push__otlp__request__pack(&request, place);
    }
}

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    translation t = {.entry = first};
    (void)count;
    (void)query;
    push_memory_init(&t.memory);
    t.from = push_pprof_read(first->profile.data, first->profile.size, &t.memory);
    int error = t.from == NULL ? -EBADMSG : 0;
    if (error == 0 && begin(&t)) {
        write_request(&t, body);
    }
    if (error == 0 && (t.memory.failed || body->failed || body->size == 0)) {
        error = -ENOMEM;
    }
    push_memory_release(&t.memory);
    return error;
}

const push_format push_format_otlp = {
    .name = "otlp",
    .path = "/v1development/profiles",
    .content_type = "application/x-protobuf",
    .probe = "",
    .probe_answer = "", /* no other server knows the path */
    .accepted = "application/x-protobuf",
    .entries = 1, /* the dictionary is that of one profile */
    /* OTLP allows any text; but the type is the profile's name at Pyroscope, which then refuses to show one with a dot. */
    .wants_plain_types = true,
    .encode = encode,
};
