/* SPDX-License-Identifier: MIT
 *
 * hostile.c: writes a profile whose writer means harm to standard output.
 *
 *   hostile string_index | duplicate_id | unknown_id | own_id | values | names | controls | deep |
 *           deep_folded | deep_perf | deep_jemalloc | deep_text
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 10000000u

/* ---- protobuf ---- */

typedef struct message {
    unsigned char data[4096];
    size_t length;
} message;

static void put_varint(message *m, uint64_t value)
{
    while (value >= 0x80) {
        m->data[m->length++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    m->data[m->length++] = (unsigned char)value;
}

static void put_number(message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3);
    put_varint(m, value);
}

static void put_bytes(message *m, unsigned field, const void *data, size_t length)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, length);
    memcpy(m->data + m->length, data, length);
    m->length += length;
}

static void put_message(message *m, unsigned field, message *inner)
{
    put_bytes(m, field, inner->data, inner->length);
    inner->length = 0;
}

static void put_text(message *m, const char *text)
{
    put_bytes(m, 6, text, strlen(text));
}

static void flush(message *m)
{
    fwrite(m->data, 1, m->length, stdout);
    m->length = 0;
}

/* Sample type 1 of unit 2, a function of each name, a location of each function, from id 1. */
static void put_tables(message *m, const char *const *names, unsigned count)
{
    message part = {.length = 0}, line = {.length = 0};

    put_text(m, "");
    put_text(m, "samples");
    put_text(m, "count");
    put_number(&part, 1, 1);
    put_number(&part, 2, 2);
    put_message(m, 1, &part);
    for (unsigned i = 0; i < count; i++) {
        put_text(m, names[i]);
        put_number(&part, 1, i + 1);
        put_number(&part, 2, 3 + i);
        put_message(m, 5, &part);
        put_number(&line, 1, i + 1);
        put_number(&part, 1, i + 1);
        put_number(&part, 3, 0x1000 * (i + 1));
        put_message(&part, 4, &line);
        put_message(m, 4, &part);
    }
}

static void put_sample(message *m, uint64_t leaf, uint64_t caller, int64_t value)
{
    message part = {.length = 0}, numbers = {.length = 0};

    put_varint(&numbers, leaf);
    put_varint(&numbers, caller);
    put_message(&part, 1, &numbers);
    put_varint(&numbers, (uint64_t)value);
    put_message(&part, 2, &numbers);
    put_message(m, 2, &part);
}

/* ---- profiles ---- */

static const char *const plain[] = {"leaf", "main"};

static void write_string_index(message *m)
{
    message part = {.length = 0};

    put_tables(m, plain, 2);
    put_number(&part, 1, 3);
    put_number(&part, 2, UINT64_MAX);
    put_message(m, 5, &part);
    put_sample(m, 1, 2, 1);
}

static void write_duplicate_id(message *m)
{
    message part = {.length = 0};

    put_tables(m, plain, 2);
    put_number(&part, 1, 1);
    put_message(m, 4, &part);
    put_sample(m, 1, 2, 1);
}

static void write_unknown_id(message *m)
{
    put_tables(m, plain, 2);
    put_sample(m, UINT64_MAX, 2, 1);
}

/* A mapping, a location and a function that have each other's ids, and stacks that go round. */
static void write_own_id(message *m)
{
    message part = {.length = 0};

    put_tables(m, plain, 2);
    put_number(&part, 1, 1);
    put_number(&part, 2, UINT64_MAX);
    put_number(&part, 5, 3);
    put_message(m, 3, &part);
    put_number(&part, 1, 3);
    put_number(&part, 2, 1);
    put_message(m, 4, &part);
    put_sample(m, 1, 1, 1);
    put_sample(m, 3, 3, 1);
}

static void write_values(message *m)
{
    put_tables(m, plain, 2);
    put_sample(m, 1, 2, INT64_MAX);
    put_sample(m, 1, 2, INT64_MAX);
    put_sample(m, 1, 2, INT64_MIN);
    put_sample(m, 2, 2, INT64_MIN);
    put_sample(m, 2, 1, -1);
}

static void write_names(message *m)
{
    static const char *const names[] = {
        "</script><script>window.hit = 1</script>",
        "<img src=x onerror=\"window.hit = 1\">",
        "\xff\xfe invalid \xed\xa0\x80 \xc0\xaf",
        "a;b\nc\td\x01\x1b[31m",
        "\"];\\l]]>&amp;--><!--",
        "%s%n%999999d",
        /* NOLINTNEXTLINE(misc-misleading-bidirectional): this is what the name is for */
        "\xe2\x80\xaeright to left",
        "",
    };
    message part = {.length = 0}, label = {.length = 0}, numbers = {.length = 0};

    put_tables(m, names, sizeof names / sizeof *names);
    for (unsigned i = 1; i <= sizeof names / sizeof *names; i++) {
        put_varint(&numbers, i);
        put_varint(&numbers, 1);
        put_message(&part, 1, &numbers);
        put_varint(&numbers, i);
        put_message(&part, 2, &numbers);
        put_number(&label, 1, 2 + i);
        put_number(&label, 2, 2 + i);
        put_message(&part, 3, &label);
        put_message(m, 2, &part);
    }
    put_number(&part, 1, 1);
    put_number(&part, 3, UINT64_C(1) << 40);
    put_number(&part, 5, 3);
    put_number(&part, 6, 4);
    put_message(m, 3, &part);
    put_varint(&part, 3);
    put_message(m, 13, &part);
}

/* A text with every character that a terminal may obey, or that may end a line. */
static size_t fill_controls(char *text, const char *begin)
{
    size_t length = strlen(begin);

    memcpy(text, begin, length);
    for (unsigned i = 1; i < 0x20; i++) {
        text[length++] = (char)i;
    }
    text[length++] = 0x7f;
    for (unsigned i = 0x80; i < 0xa0; i++) {
        text[length++] = (char)0xc2;
        text[length++] = (char)i;
        text[length++] = '|';
        text[length++] = (char)i; /* alone */
    }
    for (unsigned i = 0x2028; i <= 0x2069; i += i == 0x202e ? 0x2066 - 0x202e : 1) {
        text[length++] = (char)0xe2;
        text[length++] = (char)(0x80 | (i >> 6 & 0x3f));
        text[length++] = (char)(0x80 | (i & 0x3f));
    }
    static const char end[] = ";\033[2J\033]0;title\a\r\n 9 forged\n";
    memcpy(text + length, end, sizeof end - 1);
    length += sizeof end - 1;
    text[length++] = '\0';
    return length;
}

static void put_controls(message *m, const char *begin)
{
    char text[512] = {0};
    size_t length = fill_controls(text, begin);

    put_bytes(m, 6, text, length);
    flush(m);
}

/* Every string has control characters: the types (1 to 6), the file and build id of the mapping, a
 * function with its file, a label of text, one with a unit, a comment and the address of a text. */
static void write_controls(message *m)
{
    static const char *const strings[] = {
        "cpu",   "unit",   "period",  "unit",    "file",
        "id",    "name",   "mangled", "/src",    "key",
        "value", "number", "bytes",   "comment", "https://example.org/"};
    message part = {.length = 0}, inner = {.length = 0};

    put_text(m, "");
    for (unsigned i = 0; i < sizeof strings / sizeof *strings; i++) {
        put_controls(m, strings[i]);
    }
    for (unsigned field = 1; field <= 11; field += 10) {
        put_number(&part, 1, field == 1 ? 1 : 3);
        put_number(&part, 2, field == 1 ? 2 : 4);
        put_message(m, field, &part);
    }
    put_number(&part, 1, 1);
    put_number(&part, 3, UINT64_C(1) << 40);
    put_number(&part, 5, 5);
    put_number(&part, 6, 6);
    put_message(m, 3, &part);
    put_number(&part, 1, 1);
    put_number(&part, 2, 7);
    put_number(&part, 3, 8);
    put_number(&part, 4, 9);
    put_message(m, 5, &part);
    for (unsigned id = 1; id <= 2; id++) { /* the second has no name */
        put_number(&part, 1, id);
        put_number(&part, 2, 1);
        put_number(&part, 3, 0x1000 * id);
        put_number(&inner, 1, 1);
        put_number(&inner, 2, 7);
        if (id == 1) {
            put_message(&part, 4, &inner);
        }
        inner.length = 0;
        put_message(m, 4, &part);
    }
    put_varint(&inner, 1);
    put_varint(&inner, 2);
    put_message(&part, 1, &inner);
    put_varint(&inner, 5);
    put_message(&part, 2, &inner);
    put_number(&inner, 1, 10);
    put_number(&inner, 2, 11);
    put_message(&part, 3, &inner);
    put_number(&inner, 1, 12);
    put_number(&inner, 3, 64);
    put_number(&inner, 4, 13);
    put_message(&part, 3, &inner);
    put_message(m, 2, &part);
    put_number(m, 13, 14);
    put_number(m, 15, 15);
    put_number(m, 14, 1);
}

/* One stack of DEPTH frames. The lengths of the packed ids and of the sample come before them. */
static void write_deep(message *m)
{
    put_tables(m, plain, 2);
    put_varint(m, 2 << 3 | 2);
    put_varint(m, 1 + 4 + DEPTH + 3);
    put_varint(m, 1 << 3 | 2);
    put_varint(m, DEPTH);
    flush(m);
    for (unsigned i = 0; i < DEPTH; i++) {
        putchar(i % 3 ? 1 : 2);
    }
    put_varint(m, 2 << 3 | 2);
    put_varint(m, 1);
    put_varint(m, 5);
}

/* ---- texts ---- */

static void write_deep_folded(message *m)
{
    (void)m;
    for (unsigned i = 0; i < DEPTH; i++) {
        fputs(i % 3 ? "leaf;" : "main;", stdout);
    }
    puts("end 5");
}

static void write_deep_perf(message *m)
{
    (void)m;
    puts("app 1/1 1.5: 5 cycles:");
    for (unsigned i = 0; i < DEPTH; i++) {
        puts(i % 3 ? "\t1 f (a)" : "\t2 g (b)");
    }
}

static void put_addresses(void)
{
    for (unsigned i = 0; i < DEPTH; i++) {
        fputs(i % 3 ? " 0x11" : " 0x22", stdout);
    }
    putchar('\n');
}

static void write_deep_jemalloc(message *m)
{
    (void)m;
    fputs("heap_v2/1\n  t*: 1: 9 [0: 0]\n@", stdout);
    put_addresses();
    puts("  t*: 1: 9 [0: 0]");
}

static void write_deep_text(message *m)
{
    (void)m;
    fputs("threads profile: total 1\n1 @", stdout);
    put_addresses();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(message *m);
    } profiles[] = {
        {"string_index", write_string_index},
        {"duplicate_id", write_duplicate_id},
        {"unknown_id", write_unknown_id},
        {"own_id", write_own_id},
        {"values", write_values},
        {"names", write_names},
        {"controls", write_controls},
        {"deep", write_deep},
        {"deep_folded", write_deep_folded},
        {"deep_perf", write_deep_perf},
        {"deep_jemalloc", write_deep_jemalloc},
        {"deep_text", write_deep_text},
    };
    message m = {.length = 0};

    for (size_t i = 0; argc == 2 && i < sizeof profiles / sizeof *profiles; i++) {
        if (strcmp(argv[1], profiles[i].name) == 0) {
            profiles[i].write(&m);
            flush(&m);
            return fflush(stdout) == 0 ? 0 : 1;
        }
    }
    fputs("usage: hostile PROFILE\n", stderr);
    return 2;
}
