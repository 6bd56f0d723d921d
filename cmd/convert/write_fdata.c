/* SPDX-License-Identifier: MIT
 *
 * write_fdata.c: BOLT's profile without branch records ("basic samples"), for llvm-bolt --data; see convert.h.
 *
 *   no_lbr cycles              no branch records; samples of time, so BOLT divides by a block's instructions
 *   1 main 2a 17               17 samples at 0x2a bytes from the symbol main
 *   1 step/2 8 250             the second local symbol step
 *
 * The form is that of DataReader in llvm-project, bolt/lib/Profile/DataReader.cpp: a backslash is before blanks and
 * backslashes of names. The counts are the samples at leaves, by address: BOLT does the rest, with the file that was
 * profiled. So debug information is not needed, but .symtab.
 *
 * A line names no file, so one file's samples are written. Libraries of distributions have no .symtab, and BOLT cannot
 * name what is in them: the file is the one with most samples of those that have it.
 *
 * Owns: nothing after a call.
 * Tested by: e2e.cpprof_fdata
 */
#include "convert/convert.h"

#include "base/message.h"
#include "convert/code_symbols.h"
#include "convert/code_weights.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A file of the profile, in all processes. */
typedef struct binary {
    cp_string file, build_id;
    int64_t samples;
} binary;

typedef struct leaf {
    uint64_t address; /* as in the file */
    int64_t samples;
} leaf;

typedef struct writer {
    const cp_profile *profile;
    uint32_t type; /* of the values */
    cp_pool pool;
    cp_code_symbols symbols;
    leaf *leaves;
    size_t leaf_count;
} writer;

/* ---- files ---- */

static const cp_location *leaf_of(const writer *w, const cp_sample *sample)
{
    if (!sample->location_count || sample->values[w->type] <= 0) {
        return NULL;
    }
    const cp_location *location = &w->profile->locations[sample->locations[0]];
    return location->mapping == CP_NO_MAPPING ? NULL : location;
}

static bool is_of(const cp_mapping *mapping, const binary *b)
{
    return mapping->file == b->file && mapping->build_id == b->build_id;
}

static void count_sample(binary *binaries, size_t *count, const cp_mapping *mapping, int64_t value)
{
    size_t i = 0;

    while (i < *count && !is_of(mapping, &binaries[i])) {
        i++;
    }
    if (i == *count) {
        binaries[(*count)++] = (binary){mapping->file, mapping->build_id, 0};
    }
    binaries[i].samples += value;
}

static int by_samples(const void *left, const void *right)
{
    const binary *a = left, *b = right;

    if (a->samples != b->samples) {
        return a->samples < b->samples ? 1 : -1;
    }
    return (a->file > b->file) - (a->file < b->file);
}

/* The files with samples, those with most samples first. The array has room for one for each mapping. */
static size_t list_binaries(const writer *w, binary *binaries)
{
    size_t count = 0;

    for (uint32_t i = 0; i < w->profile->sample_count; i++) {
        const cp_location *location = leaf_of(w, &w->profile->samples[i]);
        if (location) {
            count_sample(binaries, &count, &w->profile->mappings[location->mapping],
                         w->profile->samples[i].values[w->type]);
        }
    }
    qsort(binaries, count, sizeof *binaries, by_samples);
    return count;
}

/* Opens the file of the build that was profiled, and reads its symbols. */
static int open_binary(writer *w, const binary *b, pp_elf *elf)
{
    const char *build_id = cp_profile_text(w->profile, b->build_id);
    const char *path = cp_strings_raw(&w->profile->strings, b->file);

    if (*path != '/') {
        return -ENODATA; /* "[vdso]" */
    }
    if (!*build_id) {
        return -ENOKEY;
    }
    int status = pp_elf_open(elf, NULL, path);
    if (status != 0) {
        return status;
    }
    status = cp_code_is_build(elf, build_id) ? cp_code_symbols_read(elf, &w->pool, &w->symbols)
                                             : -ESTALE;
    if (status != 0) {
        pp_elf_close(elf);
    }
    return status;
}

static const char *reason(int error)
{
    switch (error) {
    case -ENODATA:
        return "it has no table of symbols (.symtab; do not strip it)";
    case -ESTALE:
        return "the file is of another build than the one that was profiled";
    case -ENOKEY:
        return "the profile has no build id of it (link it with -Wl,--build-id)";
    case -ENOEXEC:
        return "it is no 64-bit ELF file of this machine";
    default:
        return strerror(-error);
    }
}

/* ---- samples ---- */

/* The address in the file; 0: the file has no code there. */
static uint64_t address_in(const pp_elf *elf, const cp_mapping *mapping, uint64_t address)
{
    uint64_t offset = address - mapping->start + mapping->offset;
    Elf64_Phdr segment;

    for (unsigned i = 0; pp_elf_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && offset >= segment.p_offset &&
            offset - segment.p_offset < segment.p_filesz) {
            return segment.p_vaddr + (offset - segment.p_offset);
        }
    }
    return 0;
}

static int by_address(const void *left, const void *right)
{
    const leaf *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static void list_leaves(writer *w, const binary *b, const pp_elf *elf)
{
    const cp_profile *profile = w->profile;

    w->leaves = CP_POOL_ARRAY(&w->pool, leaf, profile->sample_count + 1);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_location *location = leaf_of(w, &profile->samples[i]);
        if (location && is_of(&profile->mappings[location->mapping], b)) {
            w->leaves[w->leaf_count++] =
                (leaf){address_in(elf, &profile->mappings[location->mapping], location->address),
                       profile->samples[i].values[w->type]};
        }
    }
    qsort(w->leaves, w->leaf_count, sizeof *w->leaves, by_address);
}

static void put_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '\\') {
            putc('\\', out);
        }
        putc(*name, out);
    }
}

/* Returns the number of lines. */
static size_t put_leaves(const writer *w, FILE *out)
{
    const cp_code_symbol *symbol = w->symbols.symbols, *end = symbol + w->symbols.count;
    size_t lines = 0;

    fputs("no_lbr cycles\n", out);
    for (size_t i = 0, next; i < w->leaf_count; i = next) {
        uint64_t address = w->leaves[i].address;
        int64_t samples = 0;

        for (next = i; next < w->leaf_count && w->leaves[next].address == address; next++) {
            samples += w->leaves[next].samples;
        }
        while (symbol < end && symbol->end <= address) {
            symbol++;
        }
        if (symbol < end && address >= symbol->start) {
            fputs("1 ", out);
            put_name(out, symbol->name);
            fprintf(out, " %" PRIx64 " %" PRId64 "\n", address - symbol->start, samples);
            lines++;
        }
    }
    return lines;
}

/* Opens the first of the files that has symbols. Returns its place among them, or -1 with a sentence. */
static int choose(writer *w, const binary *binaries, size_t count, pp_elf *elf, cp_error *error)
{
    size_t i = 0;
    int status = -ENODATA;

    while (i < count && (status = open_binary(w, &binaries[i], elf)) == -ENODATA) {
        i++;
    }
    if (!count) {
        return cp_fail(error, "expected samples with addresses in files, found none");
    }
    const binary *found = &binaries[i < count ? i : 0];
    if (status != 0) {
        return cp_fail(error, "%.300s, which has most of the samples: %s",
                       cp_profile_text(w->profile, found->file), reason(status));
    }
    if (i) {
        cp_complain("%.300s, which has most of the samples: %s; taking %.300s",
                    cp_profile_text(w->profile, binaries[0].file), reason(-ENODATA),
                    cp_profile_text(w->profile, found->file));
    }
    return (int)i;
}

static int write_all(writer *w, FILE *out, cp_error *error)
{
    binary *binaries = CP_POOL_ARRAY(&w->pool, binary, w->profile->mapping_count + 1);
    size_t count = list_binaries(w, binaries);
    pp_elf elf;
    int chosen = choose(w, binaries, count, &elf, error);

    if (chosen < 0) {
        return -1;
    }
    list_leaves(w, &binaries[chosen], &elf);
    pp_elf_close(&elf);
    if (!put_leaves(w, out)) {
        return cp_fail(error, "%.300s: none of its functions has samples",
                       cp_profile_text(w->profile, binaries[chosen].file));
    }
    return 0;
}

int cp_convert_fdata(const cp_report *report, FILE *out, cp_error *error)
{
    writer w = {.profile = report->profile, .type = cp_code_count_type(report)};

    if (cp_code_check(report, error) != 0) {
        return -1;
    }
    cp_pool_init(&w.pool);
    int status = write_all(&w, out, error);
    cp_pool_release(&w.pool);
    return status;
}
