/* SPDX-License-Identifier: MIT
 *
 * generate.c: makes profiles with everything that is difficult for a reader.
 *
 *   generate SEED [KIND [distinct]]  > profile.pb
 *
 * It writes a plain profile.proto without the code that the tests check: with sample types of all
 * families, negative values, labels, inlined and recursive stacks, locations without names,
 * functions without names, mangled names, drop_frames, ids with gaps, unsorted parts. Equal SEEDs
 * give equal bytes. Profiles of two SEEDs with one KIND can be merged; their units may differ. With
 * `distinct` no two frames have one label, and nothing cancels out: the order of everything is
 * defined.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    uint8_t *data;
    size_t length, capacity;
};

static uint64_t state;
static bool distinct;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du >> 16;
}

static uint64_t below(uint64_t limit)
{
    return any() % limit;
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

static void put(struct buffer *buffer, const void *data, size_t length)
{
    if (buffer->length + length > buffer->capacity) {
        buffer->capacity = 2 * (buffer->length + length) + 64;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data) {
            abort();
        }
    }
    if (length) {
        memcpy(buffer->data + buffer->length, data, length);
    }
    buffer->length += length;
}

static void put_varint(struct buffer *buffer, uint64_t value)
{
    uint8_t byte;

    do {
        byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(buffer, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_number(struct buffer *buffer, unsigned field, uint64_t value)
{
    if (value == 0 && chance(80)) {
        return;
    }
    put_varint(buffer, field << 3);
    put_varint(buffer, value);
}

static void put_message(struct buffer *buffer, unsigned field, struct buffer *message)
{
    put_varint(buffer, field << 3 | 2);
    put_varint(buffer, message->length);
    put(buffer, message->data, message->length);
    message->length = 0;
}

/* ---- strings ---- */

static const char *strings[2000];
static unsigned string_count = 1;

static unsigned string(const char *text)
{
    unsigned i = 1;

    if (!*text) {
        return 0;
    }
    while (i < string_count && strcmp(strings[i], text) != 0) {
        i++;
    }
    if (i == string_count) {
        strings[string_count++] = strdup(text);
    }
    return i;
}

static const char *const names[] = {
    "main",
    "work",
    "compute",
    "malloc",
    "free",
    "__libc_start_main",
    "start_thread",
    "a",
    "b",
    "c",
    "main.main",
    "main.main.func1",
    "runtime/pprof.Do",
    "sync.(*Mutex).Lock",
    "github.com/x/y/v2.(*T[...]).Do",
    "main.Map[int,string]",
    "Foo.<init>",
    "java.util.List.get",
    "std::vector<int, std::allocator<int> >::push_back(int&&)",
    "ns::f(int)::g",
    "operator()",
    "(anonymous namespace)::run(char)",
    "void f<int>(int)",
    "a::operator<(b)",
    "x<y",
    ">weird<",
    "_ZNSt6vectorIiSaIiEE9push_backEOi",
    "_ZN3foo3barEv",
    "_ZN3foo3barIiEEvT_",
    "_Z3foov.isra.0",
    "_ZSt4sortIPiEvT_S1_",
    "_ZNK1AltERKS_",
    "_ZlsRSoRK1A",
    "_ZN1AcvbEv",
    "_ZN12_GLOBAL__N_13fooEv",
    "_ZZ4mainENKUlvE_clEv",
    "_ZThn8_N1B1fEv",
    "_ZTV1A",
    "_ZGVZ1fvE1x",
    "_ZN1A1BC2Ev",
    "_ZN1AD0Ev",
    "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
    "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17hc2f8e0a1b3d49567E",
    "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h8fb0aa33c4d5e617E",
    "_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h10e247df1ef62ac1E",
    "_RNvCs15kBYyAo9fc_7mycrate3foo",
    "_RNvNtCs1234_7mycrate3bar3baz",
    "_RINvNtC3std3mem8align_ofdE",
    "_RNvMNtC1a1bNtB2_1S3new",
    "_Zinvalid",
    "_ZN",
    "_R",
    "_RNvX",
    "na\xc3\xafve",
    "name with blanks",
    "tab\tname",
    ".dot",
    ".ppc(int)",
};

static const char *some_name(void)
{
    static char made[64];
    const char *name;

    if (chance(60)) {
        name = names[below(sizeof names / sizeof *names)];
        return distinct && strncmp(name, "_RI", 3) == 0
                   ? "main"
                   : name; /* the versions of Go differ on these */
    }
    snprintf(made, sizeof made, "function_%llu", (unsigned long long)below(300));
    return made;
}

/* ---- parts ---- */

static const struct {
    const char *type, *units[4];
} kinds[] = {
    {"cpu", {"nanoseconds", "microseconds", "milliseconds", "seconds"}},
    {"samples", {"count", "count", "count", "count"}},
    {"inuse_space", {"bytes", "kb", "MB", "bytes"}},
    {"alloc_space", {"bytes", "bytes", "bytes", "bytes"}},
    {"delay", {"ns", "us", "ms", "s"}},
    {"contentions", {"count", "count", "count", "count"}},
    {"gcu", {"nanogcu", "gcu", "milligcu", "gcu"}},
    {"widgets", {"widgets", "widgets", "widgets", "widgets"}},
    {"odd", {"\xc2\xb5m", "\xc2\xb5m", "\xc2\xb5m", "\xc2\xb5m"}},
    {"none", {"", "", "", ""}},
    {"hours", {"hour", "hr", "hours", "s"}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct shape {
    unsigned types, mappings, functions, locations, samples, id_step;
    int magnitude; /* bits of the values */
    bool negative;
};

static struct buffer out, message, nested;

static void put_types(const struct shape *shape, uint64_t kind)
{
    for (unsigned i = 0; i < shape->types; i++) {
        uint64_t pick = (kind + i) % KINDS;
        put_number(&message, 1, string(kinds[pick].type));
        put_number(&message, 2, string(kinds[pick].units[chance(70) ? 0 : below(4)]));
        put_message(&out, 1, &message);
    }
    put_number(&message, 1, string("cpu"));
    put_number(&message, 2, string(chance(80) ? "nanoseconds" : "ms"));
    put_message(&out, 11, &message);
    if (chance(40)) {
        put_number(&out, 14, string(kinds[(kind + below(shape->types + 1)) % KINDS].type));
    }
    put_number(&out, 12, chance(70) ? 10000000 : 0);
}

static void put_mappings(const struct shape *shape)
{
    static const char *const files[] = {"/nonexistent/bin/app",
                                        "/nonexistent/lib/libc.so.6",
                                        "",
                                        "[vdso]",
                                        "app",
                                        "/",
                                        "/nonexistent/other/libc.so.6",
                                        "http://host/debug",
                                        "dir/",
                                        "prog:with:colons"};

    for (unsigned i = 0; i < shape->mappings; i++) {
        uint64_t start = 0x400000 + 0x1000000 * (uint64_t)i;
        put_number(&message, 1, (i + 1) * shape->id_step);
        put_number(&message, 2, start);
        put_number(&message, 3, start + 0x1000 + below(0x2000));
        put_number(&message, 4, below(3) * 0x1000);
        put_number(&message, 5, string(files[distinct ? 0 : below(sizeof files / sizeof *files)]));
        put_number(&message, 6, chance(30) ? string("abcdef0123456789") : 0);
        for (unsigned flag = 7; flag <= 10; flag++) {
            put_number(&message, flag, chance(50));
        }
        put_message(&out, 3, &message);
    }
}

static void put_functions(const struct shape *shape)
{
    for (unsigned i = 0; i < shape->functions; i++) {
        const char *name = distinct || chance(95) ? some_name() : "";
        unsigned name_index = string(name);
        put_number(&message, 1, (i + 1) * shape->id_step);
        put_number(&message, 2, distinct || chance(90) ? name_index : 0);
        put_number(&message, 3,
                   distinct || chance(80) ? name_index
                   : chance(50)           ? string(some_name())
                                          : 0);
        put_number(&message, 4, chance(50) ? string("src/file.c") : 0);
        put_number(&message, 5, !distinct && chance(50) ? below(5) : 0);
        put_message(&out, 5, &message);
    }
}

static void put_locations(const struct shape *shape)
{
    for (unsigned i = 0; i < shape->locations; i++) {
        unsigned lines = chance(10) ? 0 : chance(25) ? 1 + (unsigned)below(4) : 1;
        put_number(&message, 1, (i + 1) * shape->id_step);
        if (shape->mappings && (distinct || chance(95))) {
            put_number(&message, 2, (below(shape->mappings) + 1) * shape->id_step);
        }
        put_number(&message, 3, 0x400000 + below(0x2000000));
        for (unsigned line = 0; line < lines && shape->functions; line++) {
            put_number(&nested, 1, (below(shape->functions) + 1) * shape->id_step);
            put_number(&nested, 2, below(50));
            if (distinct) {
                put_number(&nested, 3, below(9));
            }
            put_message(&message, 4, &nested);
        }
        put_number(&message, 5, chance(5));
        put_message(&out, 4, &message);
    }
}

static uint64_t some_value(const struct shape *shape)
{
    uint64_t value = chance(10) ? 0 : any() & ((1ull << below((uint64_t)shape->magnitude + 1)) - 1);

    return shape->negative && chance(30) ? 0 - value : value;
}

static void put_label(void)
{
    static const char *const keys[] = {"bytes", "thread", "phase", "request"};
    static const char *const values[] = {"a", "b", "", "true"};

    put_number(&nested, 1, string(keys[below(4)]));
    if (chance(50)) {
        put_number(&nested, 2, string(values[below(4)]));
    } else {
        put_number(&nested, 3, below(3) * 512);
        put_number(&nested, 4, chance(50) ? string("bytes") : 0);
    }
    put_message(&message, 3, &nested);
}

static void put_stack(const struct shape *shape)
{
    uint64_t depth = chance(3) ? 0 : chance(5) ? below(400) : 1 + below(12);
    bool packed = chance(80);

    for (uint64_t i = 0; i < depth && shape->locations; i++) {
        uint64_t id = (below(shape->locations) + 1) * shape->id_step;
        uint64_t repeat = chance(3) ? 1 + below(50) : 1; /* recursion */
        while (repeat--) {
            if (!packed) {
                put_varint(&message, 1 << 3);
            }
            put_varint(packed ? &nested : &message, id);
        }
    }
    if (nested.length) {
        put_message(&message, 1, &nested);
    }
}

static void put_samples(const struct shape *shape)
{
    for (unsigned i = 0; i < shape->samples; i++) {
        put_stack(shape);
        for (unsigned type = 0; type < shape->types; type++) {
            put_varint(&nested, some_value(shape));
        }
        put_message(&message, 2, &nested);
        while (chance(20)) {
            put_label();
        }
        put_message(&out, 2, &message);
    }
}

static void put_header(void)
{
    static const char *const drops[] = {
        "malloc|free", "function_1.*", "main", "f.*|std::.*", "ns::f", "(", "a|b|c"};

    put_number(&out, 9, chance(70) ? 1700000000123456789 + below(1000000000) * 40000000 : 0);
    put_number(&out, 10, chance(60) ? below(chance(50) ? 5000 : 90000000000000) : 0);
    if (chance(30)) {
        put_number(&out, 7, string(drops[below(7)]));
    }
    if (chance(20)) {
        put_number(&out, 8, string(chance(80) ? "function_11.|free" : "["));
    }
    if (chance(20)) {
        put_number(&out, 13, string("a comment"));
    }
    if (chance(20)) {
        put_number(&out, 13, string("# for programs"));
    }
}

static void put_strings(void)
{
    for (unsigned i = 0; i < string_count; i++) {
        put_varint(&out, 6 << 3 | 2);
        put_varint(&out, strlen(strings[i]));
        put(&out, strings[i], strlen(strings[i]));
    }
}

int main(int argc, char **argv)
{
    struct shape shape;
    uint64_t kind;

    if (argc < 2) {
        return 2;
    }
    strings[0] = "";
    state = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15u + 12345;
    any();
    kind = argc > 2 ? strtoull(argv[2], NULL, 0) : below(KINDS);
    shape.types = 1 + (unsigned)(kind % 4);
    distinct = argc > 3 && strcmp(argv[3], "distinct") == 0;
    shape.mappings = distinct ? 1 : (unsigned)below(5);
    shape.functions = 1 + (unsigned)below(chance(50) ? 10 : 200);
    shape.locations = 1 + (unsigned)below(chance(50) ? 20 : 500);
    shape.samples = (unsigned)below(chance(50) ? 10 : 600);
    shape.id_step = chance(80) ? 1 : chance(50) ? 7 : 0x7fff1;
    shape.magnitude = (int)below(chance(90) ? 45 : 62);
    shape.negative = !distinct && chance(20);

    put_types(&shape, kind);
    put_samples(&shape);
    put_mappings(&shape);
    put_locations(&shape);
    put_functions(&shape);
    put_header();
    put_strings();
    return fwrite(out.data, 1, out.length, stdout) == out.length ? 0 : 1;
}
