/* SPDX-License-Identifier: MIT
 *
 * stops.c: reading and describing counts of why walks ended.
 *
 * Zone: SIGNAL.
 */
#include "unwind/stops.h"

#include "base/sort.h"
#include "unwind/explain.h"

#include <string.h>

enum { REASON_BITS = 5 };

_Static_assert(PP_REASON_COUNT <= 1 << REASON_BITS, "a key has room for the reason");

static const char *const reason_texts[PP_REASON_COUNT] = {
    [PP_GO_ON] = "the stack is deeper than the buffer",
    [PP_ENDS] = "it is the outermost frame",
    [PP_NO_CODE] = "the address points to no memory",
    [PP_NO_MODULE] =
        "code of no module (generated, or mapped by hand), and no frame pointer leads on",
    [PP_MODULE_UNLOADED] = "the module was unloaded during the walk",
    [PP_NO_TABLES] = "the module has no unwind tables (.eh_frame)",
    [PP_NO_INDEX] = ".eh_frame_hdr has no usable table, and .eh_frame is not searched",
    [PP_BAD_INDEX] = "the module's .eh_frame_hdr cannot be read",
    [PP_NOT_COVERED] = "no FDE of the module covers the address",
    [PP_BAD_ENTRY] = "the FDE, or its CIE, is cut or of an unknown form",
    [PP_BAD_PROGRAM] =
        "the CFA program is cut, has an unknown instruction, or nests too many states",
    [PP_CFA_EXPRESSION] = "the CFA is an expression that is not supported",
    [PP_RETURN_EXPRESSION] = "the return address is an expression that is not supported",
    [PP_SP_EXPRESSION] = "the rule of the stack pointer is not supported",
    [PP_CFA_REGISTER] = "the CFA counts from a register that is not known in this frame",
    [PP_RETURN_REGISTER] = "the return address is in a register that is not known in this frame",
    [PP_CFA_UNREADABLE] = "the word that the CFA is computed from cannot be read",
    [PP_RETURN_UNREADABLE] = "the return address cannot be read",
    [PP_SAVED_UNREADABLE] = "a saved register cannot be read",
    [PP_SIGNAL_FRAME_UNREADABLE] = "the registers in the signal frame cannot be read",
    [PP_NOT_ABOVE] = "the caller's frame would not be above this one",
};

const char *pp_reason_text(pp_reason why)
{
    return reason_texts[why < PP_REASON_COUNT ? why : PP_NO_CODE];
}

/* The place of the key, which may be new; NULL if there is none any more. */
static pp_stop_place *place_of(pp_stops *stops, uint64_t key, uintptr_t pc)
{
    for (size_t i = 0; i < PP_STOP_PLACES; i++) {
        pp_stop_place *place = &stops->place[i];
        uint64_t is = 0;
        if (__atomic_compare_exchange_n(&place->key, &is, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&place->first, pc, __ATOMIC_RELAXED);
            return place;
        }
        if (is == key) {
            return place;
        }
    }
    return NULL;
}

PP_COLD_PATH void pp_stops_count_place(pp_stops *stops, const pp_walk *walk, uint64_t weight)
{
    pp_module module = {.code_lo = 0};
    uintptr_t pc = walk->depth > 0 ? walk->pcs[walk->depth - 1] : 0;
    pp_modules_find(pc - 1, &module);
    uint64_t key = (uint64_t)module.code_lo << REASON_BITS | walk->why;
    pp_stop_place *place = place_of(stops, key, pc);
    __atomic_add_fetch(place != NULL ? &place->count : &stops->elsewhere, weight, __ATOMIC_RELAXED);
}

void pp_stops_read(const pp_stops *stops, pp_stops *read)
{
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        read->count[i] = __atomic_load_n(&stops->count[i], __ATOMIC_RELAXED);
    }
    for (size_t i = 0; i < PP_STOP_PLACES; i++) {
        const pp_stop_place *place = &stops->place[i];
        read->place[i].key = __atomic_load_n(&place->key, __ATOMIC_RELAXED);
        read->place[i].first = __atomic_load_n(&place->first, __ATOMIC_RELAXED);
        read->place[i].count = __atomic_load_n(&place->count, __ATOMIC_RELAXED);
    }
    read->elsewhere = __atomic_load_n(&stops->elsewhere, __ATOMIC_RELAXED);
    read->guessed_whole = __atomic_load_n(&stops->guessed_whole, __ATOMIC_RELAXED);
}

static void add_part(pp_text *text, uint64_t count, const char *what)
{
    if (count > 0) {
        pp_text_add(text, ", ");
        pp_text_add_count(text, count, what);
    }
}

void pp_stops_describe(const pp_stops *stops, const char *what, pp_text *text)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        total += stops->count[i];
    }
    pp_text_add(text, "of ");
    pp_text_add_count(text, total, what);
    pp_text_add(text, " ");
    pp_text_add_count(text, stops->count[PP_STOP_END] - stops->guessed_whole,
                      " [has a whole stack|have whole stacks]");
    add_part(text, stops->guessed_whole,
             " reached the end by a guess at a frame without unwind information");
    add_part(text, stops->count[PP_STOP_TRUNCATED], " [is|are] deeper than the buffer");
    add_part(text, stops->count[PP_STOP_NO_RULE], " [ends|end] in code without unwind information");
    add_part(text, stops->count[PP_STOP_BAD_READ], " [ends|end] at an unreadable frame");
}

/* ---- places ---- */

static const pp_mapping *mapping_of(const pp_mapping *mappings, size_t count, uintptr_t pc)
{
    for (size_t i = 0; i < count; i++) {
        if (pc - 1 >= mappings[i].start && pc - 1 < mappings[i].limit) {
            return &mappings[i];
        }
    }
    return NULL;
}

static void describe_place(const pp_stop_place *place, const pp_mapping *mapping, pp_text *text)
{
    pp_walk_space space;
    pp_text rule = PP_TEXT_INIT;
    bool in_file = mapping != NULL && mapping->path[0] != '\0';
    uintptr_t bias = in_file ? mapping->bias : 0;
    pp_text_add_count(text, place->count, " [stack ends|stacks end] in ");
    pp_text_add(text, in_file ? mapping->path : "code that no file holds");
    pp_text_add(text, ", the first at ");
    pp_explain_address(place->first - 1 - bias, text);
    pp_text_add(text, ": ");
    pp_text_add(text, pp_reason_text((pp_reason)(place->key & ((1u << REASON_BITS) - 1))));
    pp_explain_rule(NULL, place->first, bias, &space, &rule);
    if (rule.length > 0) {
        pp_text_add(text, "; ");
        pp_text_add(text, rule.data);
    }
}

/* The place with most stacks becomes the first one. */
static int compare_places(const void *a, const void *b, void *context)
{
    (void)context;
    uint64_t x = ((const pp_stop_place *)a)->count;
    uint64_t y = ((const pp_stop_place *)b)->count;
    return (x < y) - (x > y);
}

bool pp_stops_describe_place(const pp_stops *stops, size_t rank, const pp_mapping *mappings,
                             size_t mapping_count, pp_text *text)
{
    pp_stop_place place[PP_STOP_PLACES];
    uint64_t others = stops->elsewhere;
    memcpy(place, stops->place, sizeof place);
    pp_sort(place, PP_STOP_PLACES, sizeof place[0], compare_places, NULL);
    for (size_t i = PP_STOP_MAX_COMMENTS - 1; i < PP_STOP_PLACES; i++) {
        others += place[i].count;
    }
    if (rank < PP_STOP_MAX_COMMENTS - 1 && place[rank].count > 0) {
        describe_place(&place[rank], mapping_of(mappings, mapping_count, place[rank].first), text);
        return true;
    }
    if (rank == PP_STOP_MAX_COMMENTS - 1 && others > 0) {
        pp_text_add_count(text, others, " more [stack ends|stacks end] early elsewhere");
        return true;
    }
    return false;
}
