/* SPDX-License-Identifier: MIT
 *
 * places.h: where the stepped program's PCs are, and what is known of each.
 *
 *   PC --> mapping (of /proc/PID/maps) --> module + address in its file --> record
 *
 * Records belong to places in files, so that they outlive the program and the unloading of a
 * library. Code without a file is module "[anonymous]", and its addresses are the program's own.
 *
 * Zone: tests.
 * Owns: mappings, modules and records; nothing is freed.
 */
#ifndef PP_COMPARE_PLACES_H
#define PP_COMPARE_PLACES_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PLACES_MODULES = 1024, PLACES_NO_CLASS = 0 };

typedef struct place_module {
    char *path;
    uint64_t file_to_address; /* an address in the file minus its offset */
    uint64_t code_lo, code_hi;
    uint8_t build_id[32];
    size_t build_id_size;
    bool has_file;
} place_module;

typedef struct place_record {
    uint64_t key; /* module and address */
    uint32_t visits;
    uint32_t compared;
    uint32_t disagreed;
    uint32_t first_class; /* of a disagreement: its number plus 1 */
    machine_step instruction;
    bool known; /* the instruction was read */
    bool guessed;
    uint8_t quiet;        /* a function's entry: calls in a row without anything new */
    uint8_t second_asked; /* libunwind was asked here */
    uint8_t second_agreed;
} place_record;

typedef struct place {
    unsigned module;
    uint64_t address;
} place;

/* Reads the mappings of `pid` anew; at the next look-up that needs them. */
void places_stale(void);

place places_find(pid_t pid, uint64_t pc);
place_record *places_record(place where);
bool places_is_file(place where);

/* The mapping around `address`; false if there is none. */
bool places_mapping(pid_t pid, uint64_t address, uint64_t *lo, uint64_t *hi);

const place_module *places_module(unsigned module);
unsigned places_module_count(void);

place places_of_record(const place_record *record);

/* The record behind `previous` (NULL: the first); NULL at the end. */
const place_record *places_next(const place_record *previous);

/* "name+offset" of the function, or "" if nobody knows. The text is valid until the next call. */
const char *places_symbol(place where, uint64_t *offset);

#endif
