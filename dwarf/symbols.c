/* SPDX-License-Identifier: MIT
 *
 * symbols.c: see symbols.h. libdw is linked to liblzma, so that this is there where libdw is; it is
 * loaded for the first file with .gnu_debugdata.
 *
 * Owns: nothing.
 */
#include "dwarf/symbols.h"

#include "dwarf/array.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MINI_FIRST = 1 << 20, MINI_MAX = 256 << 20 };

/* ---- tables ---- */

/* "write" and "__write" are one function: the name that programs use is preferred. */
static int rank_of(const char *name, unsigned char info)
{
    size_t underscores = strncmp(name, "_Z", 2) == 0 ? 0 : strspn(name, "_");
    int rank = GELF_ST_BIND(info) == STB_LOCAL ? 0 : 8;
    return rank - (underscores < 4 ? (int)underscores : 4);
}

/* 0: it is in none. */
static Dwarf_Addr section_end(Elf *file, size_t index)
{
    GElf_Shdr header;
    Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(file, index) : NULL;
    return section != NULL && gelf_getshdr(section, &header) != NULL
               ? header.sh_addr + header.sh_size
               : 0;
}

static void add(pp_symbols *symbols, Elf *file, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
        *name == '\0') {
        return;
    }
    pp_function_symbol *more =
        pp_array_more(symbols->symbol, &symbols->room, symbols->count, sizeof *more);
    if (more == NULL) {
        return;
    }
    symbols->symbol = more;
    bool has_size = symbol->st_size > 0;
    more[symbols->count++] = (pp_function_symbol){
        .start = symbol->st_value,
        .end = has_size ? symbol->st_value + symbol->st_size : section_end(file, symbol->st_shndx),
        .name = name,
        .rank = rank_of(name, symbol->st_info),
        .has_size = has_size};
}

/* The names end with a NUL, which the table need not have. */
static char *copy_names(pp_symbols *symbols, Elf *file, size_t section, size_t *size)
{
    Elf_Scn *scn = elf_getscn(file, section);
    Elf_Data *data = scn != NULL ? elf_getdata(scn, NULL) : NULL;
    if (data == NULL || data->d_buf == NULL ||
        symbols->texts == sizeof symbols->text / sizeof *symbols->text) {
        return NULL;
    }
    char *text = malloc(data->d_size + 1);
    if (text != NULL) {
        memcpy(text, data->d_buf, data->d_size);
        text[data->d_size] = '\0';
        symbols->text[symbols->texts++] = text;
        *size = data->d_size;
    }
    return text;
}

static void read_table(pp_symbols *symbols, Elf *file, Elf_Scn *section, const GElf_Shdr *header)
{
    size_t size = 0;
    Elf_Data *data = elf_getdata(section, NULL);
    const char *names = data != NULL ? copy_names(symbols, file, header->sh_link, &size) : NULL;
    GElf_Sym symbol;
    for (int i = 0; names != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        if (symbol.st_name < size) {
            add(symbols, file, &symbol, names + symbol.st_name);
        }
    }
}

/* ---- mini-debuginfo ---- */

typedef int decoder(uint64_t *most_memory, uint32_t flags, const void *allocator, const uint8_t *in,
                    size_t *in_at, size_t in_size, uint8_t *out, size_t *out_at, size_t out_size);

static decoder *find_decoder(void)
{
    enum { LOCAL = RTLD_NOW | RTLD_LOCAL };
    void *library = dlopen("liblzma.so.5", LOCAL);
    decoder *decode = NULL;
    if (library != NULL) {
        *(void **)&decode = dlsym(library, "lzma_stream_buffer_decode");
    }
    /* cppcheck-suppress resourceLeak ; it stays loaded, as libdw has it, too */
    return decode;
}

/* Nothing tells the uncompressed size before: the room grows until it is enough. */
static uint8_t *expand(const Elf_Data *packed, size_t *size)
{
    enum { OK = 0, NO_ROOM = 10 };
    decoder *decode = find_decoder();
    uint8_t *out = NULL;
    int status = NO_ROOM;
    for (size_t room = MINI_FIRST; decode != NULL && status == NO_ROOM && room <= MINI_MAX;
         room *= 4) {
        uint64_t most_memory = MINI_MAX;
        size_t in_at = 0;
        free(out);
        *size = 0;
        out = malloc(room);
        if (out == NULL) {
            return NULL;
        }
        status =
            decode(&most_memory, 0, NULL, packed->d_buf, &in_at, packed->d_size, out, size, room);
    }
    if (status != OK) {
        free(out);
        return NULL;
    }
    return out;
}

static void read_tables(pp_symbols *symbols, Elf *file, bool is_mini);

static void read_mini(pp_symbols *symbols, Elf_Scn *section)
{
    size_t size = 0;
    Elf_Data *packed = elf_rawdata(section, NULL);
    uint8_t *bytes = packed != NULL && packed->d_buf != NULL ? expand(packed, &size) : NULL;
    Elf *file = bytes != NULL ? elf_memory((char *)bytes, size) : NULL;
    if (file != NULL) {
        read_tables(symbols, file, true);
        elf_end(file);
    }
    free(bytes);
}

static bool is_mini_section(Elf *file, size_t names, const GElf_Shdr *header)
{
    const char *name = elf_strptr(file, names, header->sh_name);
    return name != NULL && strcmp(name, ".gnu_debugdata") == 0;
}

static void read_tables(pp_symbols *symbols, Elf *file, bool is_mini)
{
    size_t names = 0;
    if (elf_getshdrstrndx(file, &names) != 0) {
        return;
    }
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS) {
            continue;
        }
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
            read_table(symbols, file, section, &header);
        } else if (!is_mini && is_mini_section(file, names, &header)) {
            read_mini(symbols, section);
        }
    }
}

/* ---- all of them ---- */

bool pp_symbols_are_whole(Elf *file)
{
    size_t names = 0;
    bool found = false;
    if (elf_getshdrstrndx(file, &names) != 0) {
        return false;
    }
    for (Elf_Scn *section = NULL; !found && (section = elf_nextscn(file, section)) != NULL;) {
        GElf_Shdr header;
        found = gelf_getshdr(section, &header) != NULL && header.sh_type != SHT_NOBITS &&
                (header.sh_type == SHT_SYMTAB || is_mini_section(file, names, &header));
    }
    return found;
}

void pp_symbols_read(pp_symbols *symbols, Elf *file)
{
    read_tables(symbols, file, false);
}

static int by_start(const void *left, const void *right)
{
    const pp_function_symbol *a = left;
    const pp_function_symbol *b = right;
    if (a->start != b->start) {
        return a->start > b->start ? 1 : -1;
    }
    if (a->rank != b->rank) {
        return a->rank - b->rank;
    }
    return strcmp(b->name, a->name);
}

/* Keeps the last of several symbols of a place. Of the last symbol of all nothing says where it ends, if it has no size:
 * .dynsym lacks the functions that may come next. */
void pp_symbols_sort(pp_symbols *symbols)
{
    size_t kept = 0;
    if (symbols->count == 0) {
        return;
    }
    qsort(symbols->symbol, symbols->count, sizeof *symbols->symbol, by_start);
    for (size_t i = 0; i < symbols->count; i++) {
        if (i + 1 == symbols->count || symbols->symbol[i + 1].start != symbols->symbol[i].start) {
            symbols->symbol[kept++] = symbols->symbol[i];
        }
    }
    symbols->count = kept;
    for (size_t i = 0; i < kept; i++) {
        pp_function_symbol *symbol = &symbols->symbol[i];
        Dwarf_Addr next = i + 1 < kept ? symbol[1].start : symbol->start;
        if (!symbol->has_size && symbol->end > next) {
            symbol->end = next;
        }
    }
}

const pp_function_symbol *pp_symbols_find(const pp_symbols *symbols, Dwarf_Addr address)
{
    size_t lo = 0;
    size_t hi = symbols->count; /* the first symbol above the address */
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (symbols->symbol[middle].start <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo > 0 && address < symbols->symbol[lo - 1].end ? &symbols->symbol[lo - 1] : NULL;
}

void pp_symbols_release(pp_symbols *symbols)
{
    for (size_t i = 0; i < symbols->texts; i++) {
        free(symbols->text[i]);
    }
    free(symbols->symbol);
    *symbols = (pp_symbols){0};
}
