/* SPDX-License-Identifier: MIT
 *
 * cmd_push_formats.c: what goes into a request: texts, names, labels, URLs; profiles that are none.
 */
#include "push/age.h"
#include "push/body.h"
#include "push/format.h"
#include "push/names.h"
#include "push/pprof.h"
#include "push/rename.h"
#include "push/resource.h"
#include "push/split.h"
#include "push/target.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_body(push_body *body, const char *text)
{
    push_body_add(body, "", 1);
    assert_false(body->failed);
    assert_string_equal((const char *)body->data, text);
    push_body_release(body);
}

/* ---- bodies ---- */

static void json_is_escaped(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {{"", "\"\""},
                 {"a\"b\\c", "\"a\\\"b\\\\c\""},
                 {"\n\x01", "\"\\u000a\\u0001\""},
                 {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
                 {"\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
                 {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
                 {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push_body body = PUSH_BODY_INIT;
        push_body_add_json(&body, cases[i].text);
        expect_body(&body, cases[i].json);
    }
}

static void base64_is_padded(void **state)
{
    static const struct {
        const char *text, *coded;
    } cases[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                 {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push_body body = PUSH_BODY_INIT;
        push_body_add_base64(&body, cases[i].text, strlen(cases[i].text));
        expect_body(&body, cases[i].coded);
    }
}

/* ---- names, labels ---- */

static void kinds_have_the_names_of_servers(void **state)
{
    static const struct {
        const char *kind, *name;
    } cases[] = {{"cpu", "process_cpu"},       {"heap", "memory"}, {"allocs", "memory"},
                 {"memory", "process_memory"}, {"block", "block"}, {"goroutine", "goroutine"},
                 {"a.b-c/d", "a_b_c_d"},       {"9", "_9"}};
    char name[PUSH_NAME_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push_name_of_kind(cases[i].kind, name);
        assert_string_equal(name, cases[i].name);
    }
}

static const char *value_of(const push_resource *r, const char *name)
{
    const push_profile profile = {.labels = r->labels, .label_count = r->count};
    return push_label_value(&profile, name, "none");
}

static void the_service_is_named_by_the_first_that_names_it(void **state)
{
    static push_resource r;
    push_resource_source source = {.program = "prog"};
    (void)state;
    push_resource_init(&r, &source);
    assert_string_equal(value_of(&r, "service.name"), "prog");
    source.attributes = "a=1,service.name=attribute";
    push_resource_init(&r, &source);
    assert_string_equal(value_of(&r, "service.name"), "attribute");
    source.name = "variable";
    push_resource_init(&r, &source);
    assert_string_equal(value_of(&r, "service.name"), "variable");
    source.service = "option";
    push_resource_init(&r, &source);
    assert_string_equal(value_of(&r, "service.name"), "option");
    assert_string_equal(r.labels[0].name, "service.name");
    assert_string_equal(value_of(&r, "a"), "1");
    const push_resource_source nothing = {NULL, NULL, NULL, NULL};
    push_resource_init(&r, &nothing);
    assert_string_equal(value_of(&r, "service.name"), "unknown_service");
}

static void attributes_are_decoded(void **state)
{
    static push_resource r;
    const push_resource_source source = {
        .attributes = " a = x%20y , b=%zz%4,=no,none,c=%00, d=e=f,a=last,long%3d=1"};
    (void)state;
    push_resource_init(&r, &source);
    assert_string_equal(value_of(&r, "a"), "last");
    assert_string_equal(value_of(&r, "b"), "%zz%4");
    assert_string_equal(value_of(&r, "c"), "%00");
    assert_string_equal(value_of(&r, "d"), "e=f");
    assert_int_equal(r.count, 6);
}

static void what_has_no_room_is_left_out(void **state)
{
    static push_resource r;
    char name[16];
    const push_resource_source source = {.program = "p"};
    (void)state;
    push_resource_init(&r, &source);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(push_resource_set(&r, name, "v"), i < PUSH_RESOURCE_LABELS - 1);
    }
    char *large = malloc(PUSH_RESOURCE_BYTES + 1);
    memset(large, 'x', PUSH_RESOURCE_BYTES);
    large[PUSH_RESOURCE_BYTES] = '\0';
    assert_false(push_resource_set(&r, "n1", large));
    assert_string_equal(value_of(&r, "n1"), "v");
    free(large);
}

/* ---- URLs ---- */

static void urls_are_taken_apart(void **state)
{
    static const struct {
        const char *url, *shown, *host, *port;
    } cases[] = {{"http://host", "http://host", "host", "80"},
                 {"https://host/", "https://host", "host", "443"},
                 {"http://u:p@host:99/a/b//", "http://host:99/a/b", "host", "99"},
                 {"http://u:p@q@host", "http://host", "host", "80"},
                 {"http://[::1]:4040", "http://[::1]:4040", "::1", "4040"},
                 {"http://[::1]", "http://[::1]", "::1", "80"}};
    static const char *const bad[] = {
        "",           "host:80",    "ftp://host",   "http://",    "http:///a",   "http://:80",
        "http://a:b", "http://a b", "http://a?b=c", "http://a#b", "http://[::1", "http://host:"};
    char why[PUSH_WHY_BYTES];
    push_target target;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(push_target_parse(cases[i].url, &target, why), 0);
        assert_string_equal(target.shown, cases[i].shown);
        assert_string_equal(target.host, cases[i].host);
        assert_string_equal(target.port, cases[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(push_target_parse(bad[i], &target, why), -EINVAL);
        assert_non_null(strstr(why, "expected http://HOST:PORT"));
    }
    assert_int_equal(push_target_parse("http://h/base/ingest", &target, why), 0);
    assert_false(push_target_cut(&target, "/other"));
    assert_true(push_target_cut(&target, "/ingest"));
    assert_string_equal(target.url, "http://h/base");
}

/* ---- profiles ---- */

/* sample_type, two locations, one sample with a label; all references good. */
static push_pprof *small(push_memory *memory)
{
    static Push__Pprof__ValueType type = PUSH__PPROF__VALUE_TYPE__INIT;
    static Push__Pprof__Location location = PUSH__PPROF__LOCATION__INIT;
    static Push__Pprof__Sample sample = PUSH__PPROF__SAMPLE__INIT;
    static Push__Pprof__Label label = PUSH__PPROF__LABEL__INIT;
    static Push__Pprof__ValueType *types[] = {&type};
    static Push__Pprof__Location *locations[] = {&location};
    static Push__Pprof__Sample *samples[] = {&sample};
    static Push__Pprof__Label *labels[] = {&label};
    static ProtobufCBinaryData strings[] = {
        {0, (uint8_t *)""}, {3, (uint8_t *)"cpu"}, {5, (uint8_t *)"count"}};
    static uint64_t ids[] = {1};
    static int64_t values[] = {7};
    push_pprof *p = push_memory_array(memory, 1, sizeof *p);
    *p = (push_pprof)PUSH__PPROF__PROFILE__INIT;
    type.type = 1;
    type.unit = 2;
    location.id = 1;
    label.key = 1;
    label.str = 2;
    sample.location_id = ids;
    sample.value = values;
    sample.label = labels;
    sample.n_location_id = sample.n_value = sample.n_label = 1;
    p->sample_type = types;
    p->location = locations;
    p->sample = samples;
    p->n_sample_type = p->n_location = p->n_sample = 1;
    p->string_table = strings;
    p->n_string_table = 3;
    p->period_type = &type;
    return p;
}

static bool reads(const push_body *body)
{
    push_memory memory;
    push_memory_init(&memory);
    bool is_read = push_pprof_read(body->data, body->size, &memory) != NULL;
    push_memory_release(&memory);
    return is_read;
}

static bool is_good(const push_pprof *p)
{
    push_body body = PUSH_BODY_INIT;
    push_pprof_write(p, &body);
    assert_false(body.failed);
    bool is_read = reads(&body);
    push_body_release(&body);
    return is_read;
}

static void bad_references_are_refused(void **state)
{
    push_memory memory;
    (void)state;
    push_memory_init(&memory);
    push_pprof *p = small(&memory);
    assert_true(is_good(p));
    p->sample[0]->location_id[0] = 2;
    assert_false(is_good(p));
    p->sample[0]->location_id[0] = 0;
    assert_false(is_good(p));
    p->sample[0]->location_id[0] = 1;
    p->location[0]->mapping_id = 1;
    assert_false(is_good(p));
    p->location[0]->mapping_id = 0;
    p->sample[0]->label[0]->str = 3;
    assert_false(is_good(p));
    p->sample[0]->label[0]->str = 2;
    p->sample[0]->n_value = 0;
    assert_false(is_good(p));
    p->sample[0]->n_value = 1;
    p->default_sample_type = -1;
    assert_false(is_good(p));
    p->default_sample_type = 0;
    assert_true(is_good(p));
    push_memory_release(&memory);
}

static void cut_profiles_are_refused(void **state)
{
    push_memory memory;
    push_body body = PUSH_BODY_INIT;
    (void)state;
    push_memory_init(&memory);
    push_pprof_write(small(&memory), &body);
    assert_true(reads(&body));
    assert_true(push_pprof_plain_size(body.data, body.size) > 10);
    size_t whole = body.size;
    for (body.size = 0; body.size < whole - 8; body.size++) { /* the trailer is the rest */
        assert_false(reads(&body));
    }
    push_body_release(&body);
    push_memory_release(&memory);
}

static void types_get_plain_words(void **state)
{
    push_memory memory;
    push_body packed = PUSH_BODY_INIT;
    (void)state;
    push_memory_init(&memory);
    push_pprof *p = small(&memory);
    p->string_table[1] = (ProtobufCBinaryData){5, (uint8_t *)"a.b/c"};
    push_pprof_write(p, &packed);
    push_profile profile = {.data = packed.data, .size = packed.size, .kind = "a.b/c"};
    push_entry *entry = push_rename_types(push_entry_new(&profile));
    assert_string_equal(entry->profile.kind, "a_b_c");
    const push_pprof *read = push_pprof_read(entry->profile.data, entry->profile.size, &memory);
    assert_non_null(read);
    const ProtobufCBinaryData *type = &read->string_table[read->sample_type[0]->type];
    assert_int_equal(type->len, 5);
    assert_memory_equal(type->data, "a_b_c", 5);
    const ProtobufCBinaryData *label = &read->string_table[read->sample[0]->label[0]->key];
    assert_memory_equal(label->data, "a.b/c", 5);
    assert_int_equal(read->sample[0]->value[0], 7);
    push_entry_free(entry);
    profile.kind = "cpu";
    push_entry *other = push_entry_new(&profile);
    assert_ptr_equal(push_rename_types(other), other);
    push_entry_free(other);
    p->string_table[1] = (ProtobufCBinaryData){3, (uint8_t *)"cpu"};
    push_body_release(&packed);
    push_memory_release(&memory);
}

static void times_are_those_that_the_server_takes(void **state)
{
    enum { NOW = 1000000, OLDEST = 3300 };
    static const struct {
        int64_t begin, end;  /* seconds */
        int64_t time, lasts; /* that the server gets */
    } cases[] = {{NOW - 15, NOW, NOW - 15, 15},
                 {NOW - 7200, NOW, NOW - OLDEST, OLDEST},
                 {NOW - 3600, NOW - 3585, NOW - OLDEST, 0},
                 {NOW - 7215, NOW - 7200, NOW - 7215, 15},
                 {NOW + 3585, NOW + 3600, NOW - 15, 15},
                 {NOW + 15, NOW + 30, NOW + 15, 15}};
    const int64_t second = 1000000000;
    push_memory memory;
    (void)state;
    push_memory_init(&memory);
    push_pprof *p = small(&memory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push_body packed = PUSH_BODY_INIT;
        p->time_nanos = cases[i].begin * second;
        p->duration_nanos = (cases[i].end - cases[i].begin) * second;
        push_pprof_write(p, &packed);
        const push_profile profile = {.data = packed.data,
                                      .size = packed.size,
                                      .kind = "cpu",
                                      .begin_ns = cases[i].begin * second,
                                      .end_ns = cases[i].end * second};
        push_entry *entry = push_limit_age(push_entry_new(&profile), OLDEST, NOW);
        const push_pprof *read = push_pprof_read(entry->profile.data, entry->profile.size, &memory);
        assert_non_null(read);
        assert_int_equal(read->time_nanos, cases[i].time * second);
        assert_int_equal(read->duration_nanos, cases[i].lasts * second);
        assert_int_equal(entry->profile.begin_ns, cases[i].time * second);
        assert_int_equal(read->sample[0]->value[0], 7);
        push_entry_free(entry);
        entry = push_limit_age(push_entry_new(&profile), 0, NOW); /* any age is right */
        assert_int_equal(entry->profile.begin_ns, cases[i].begin * second);
        push_entry_free(entry);
        push_body_release(&packed);
    }
    push_memory_release(&memory);
}

enum { MANY = 1000 };

/* A profile of MANY samples, each with a location, a function and a name of its own. */
static push_pprof *large(push_memory *memory)
{
    push_pprof *p = small(memory);
    Push__Pprof__Sample *samples = push_memory_array(memory, MANY, sizeof *samples);
    Push__Pprof__Location *locations = push_memory_array(memory, MANY, sizeof *locations);
    Push__Pprof__Function *functions = push_memory_array(memory, MANY, sizeof *functions);
    Push__Pprof__Line *lines = push_memory_array(memory, MANY, sizeof *lines);
    Push__Pprof__Line **line_list = push_memory_array(memory, MANY, sizeof(void *));
    ProtobufCBinaryData *strings = push_memory_array(memory, MANY + 3, sizeof *strings);
    uint64_t *ids = push_memory_array(memory, MANY, sizeof *ids);
    int64_t *values = push_memory_array(memory, MANY, sizeof *values);
    memcpy(strings, p->string_table, 3 * sizeof *strings);
    p->sample = push_memory_array(memory, MANY, sizeof(void *));
    p->location = push_memory_array(memory, MANY, sizeof(void *));
    p->function = push_memory_array(memory, MANY, sizeof(void *));
    p->string_table = strings;
    for (size_t i = 0; i < MANY; i++) {
        char *name = push_memory_array(memory, 16, 1);
        snprintf(name, 16, "function%zu", i);
        strings[i + 3] = (ProtobufCBinaryData){strlen(name), (uint8_t *)name};
        functions[i] = (Push__Pprof__Function)PUSH__PPROF__FUNCTION__INIT;
        functions[i].id = i + 1;
        functions[i].name = (int64_t)i + 3;
        lines[i] = (Push__Pprof__Line)PUSH__PPROF__LINE__INIT;
        lines[i].function_id = i + 1;
        line_list[i] = &lines[i];
        locations[i] = (Push__Pprof__Location)PUSH__PPROF__LOCATION__INIT;
        locations[i].id = i + 1;
        locations[i].line = &line_list[i];
        locations[i].n_line = 1;
        ids[i] = i + 1;
        values[i] = (int64_t)i;
        samples[i] = (Push__Pprof__Sample)PUSH__PPROF__SAMPLE__INIT;
        samples[i].location_id = &ids[i];
        samples[i].value = &values[i];
        samples[i].n_location_id = samples[i].n_value = 1;
        p->sample[i] = &samples[i];
        p->location[i] = &locations[i];
        p->function[i] = &functions[i];
    }
    p->n_sample = p->n_location = p->n_function = MANY;
    p->n_string_table = MANY + 3;
    return p;
}

/* The parts of the large profile add up to it, name by name; none is larger than the limits. */
static unsigned split_by(const push_limits *limits)
{
    push_memory memory;
    push_body packed = PUSH_BODY_INIT;
    int64_t seen[MANY] = {0};
    unsigned count = 0;
    push_memory_init(&memory);
    push_pprof_write(large(&memory), &packed);
    const push_profile profile = {.data = packed.data, .size = packed.size, .kind = "cpu"};
    push_entry *part = push_split(push_entry_new(&profile), limits);
    while (part != NULL) {
        push_entry *next = part->next;
        const push_pprof *p = push_pprof_read(part->profile.data, part->profile.size, &memory);
        assert_non_null(p);
        assert_true(limits->samples == 0 || p->n_sample <= limits->samples);
        assert_true(limits->bytes == 0 ||
                    push__pprof__profile__get_packed_size(p) <= limits->bytes);
        assert_int_equal(p->n_location, p->n_sample);
        assert_int_equal(p->time_nanos, count * 1000);
        for (size_t i = 0; i < p->n_sample; i++) {
            const Push__Pprof__Location *l = p->location[p->sample[i]->location_id[0] - 1];
            const Push__Pprof__Function *f = p->function[l->line[0]->function_id - 1];
            char name[16] = "";
            assert_true(p->string_table[f->name].len < sizeof name);
            memcpy(name, p->string_table[f->name].data, p->string_table[f->name].len);
            seen[strtol(name + strlen("function"), NULL, 10)] += 1 + p->sample[i]->value[0];
        }
        push_entry_free(part);
        part = next;
        count++;
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(seen[i], 1 + (int64_t)i);
    }
    push_body_release(&packed);
    push_memory_release(&memory);
    return count;
}

static void large_profiles_are_split(void **state)
{
    const push_limits none = {0, 0};
    const push_limits by_samples = {.samples = 100};
    const push_limits by_bytes = {.bytes = 10000};
    const push_limits enough = {.bytes = 1 << 20, .samples = MANY};
    (void)state;
    assert_int_equal(split_by(&none), 1);
    assert_int_equal(split_by(&enough), 1);
    assert_int_equal(split_by(&by_samples), 16);
    assert_true(split_by(&by_bytes) > 3);
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
    assert_int_equal(fscanf(statm, "%lu", &pages), 1);
    fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* 250 parts of a profile whose strings take 6 MB of tables. */
static void parts_do_not_take_memory_all_at_once(void **state)
{
    enum { STRINGS = 250000, ROOM = 1 << 30 };
    const push_limits limits = {.samples = 4};
    push_memory memory;
    push_body packed = PUSH_BODY_INIT;
    struct rlimit before;
    unsigned count = 0;
    (void)state;
    push_memory_init(&memory);
    push_pprof *p = large(&memory);
    ProtobufCBinaryData *strings = push_memory_array(&memory, STRINGS, sizeof *strings);
    memcpy(strings, p->string_table, p->n_string_table * sizeof *strings);
    p->string_table = strings;
    p->n_string_table = STRINGS;
    push_pprof_write(p, &packed);
    const push_profile profile = {.data = packed.data, .size = packed.size, .kind = "cpu"};
    push_entry *entry = push_entry_new(&profile);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const struct rlimit limit = {address_space() + ROOM, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    push_entry *part = push_split(entry, &limits);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    while (part != NULL) {
        push_entry *next = part->next;
        push_entry_free(part);
        part = next;
        count++;
    }
    assert_true(count >= MANY / limits.samples);
    push_body_release(&packed);
    push_memory_release(&memory);
}

/* A request begins with what it must have, and garbage makes none. */
static void requests_of_each_server(void **state)
{
    static const push_label labels[] = {{"service.name", "s"}, {"a.b", "1"}, {"a_b", "2"}};
    push_memory memory;
    push_body packed = PUSH_BODY_INIT;
    (void)state;
    push_memory_init(&memory);
    push_pprof_write(small(&memory), &packed);
    push_profile profile = {.data = packed.data,
                            .size = packed.size,
                            .kind = "cpu",
                            .labels = labels,
                            .label_count = 3};
    push_entry *entry = push_entry_new(&profile);
    profile.data = "garbage";
    profile.size = 7;
    push_entry *garbage = push_entry_new(&profile);
    for (size_t i = 0; push_formats[i] != NULL; i++) {
        push_body body = PUSH_BODY_INIT;
        push_body query = PUSH_BODY_INIT;
        assert_int_equal(push_formats[i]->encode(entry, 1, &body, &query), 0);
        assert_true(body.size > packed.size / 2);
        push_body_release(&body);
        push_body_release(&query);
    }
    push_body body = PUSH_BODY_INIT;
    push_body query = PUSH_BODY_INIT;
    assert_int_equal(push_format_parca.encode(garbage, 1, &body, &query),
                     0); /* the server says so */
    expect_body(
        &body,
        "{\"series\":[{\"labels\":{\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
        "{\"name\":\"service_name\",\"value\":\"s\"},{\"name\":\"a_b\",\"value\":\"1\"}]},"
        "\"samples\":[{\"rawProfile\":\"Z2FyYmFnZQ==\"}]}]}");
    assert_int_equal(push_format_otlp.encode(garbage, 1, &body, &query), -EBADMSG);
    push_body_release(&body);
    assert_int_equal(push_format_ingest.encode(entry, 1, &body, &query), 0);
    assert_int_equal(body.size, packed.size);
    expect_body(&query, "?format=pprof&spyName=libpprof&from=0&until=0&name=s%7Ba_b%3D1%7D");
    push_body_release(&body);
    push_entry_free(entry);
    push_entry_free(garbage);
    push_body_release(&packed);
    push_memory_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(base64_is_padded),
        cmocka_unit_test(kinds_have_the_names_of_servers),
        cmocka_unit_test(the_service_is_named_by_the_first_that_names_it),
        cmocka_unit_test(attributes_are_decoded),
        cmocka_unit_test(what_has_no_room_is_left_out),
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(bad_references_are_refused),
        cmocka_unit_test(cut_profiles_are_refused),
        cmocka_unit_test(types_get_plain_words),
        cmocka_unit_test(times_are_those_that_the_server_takes),
        cmocka_unit_test(large_profiles_are_split),
        cmocka_unit_test(parts_do_not_take_memory_all_at_once),
        cmocka_unit_test(requests_of_each_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
