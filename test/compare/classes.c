/* SPDX-License-Identifier: MIT
 *
 * classes.c: from single disagreements to a table that a person can explain.
 *
 * Zone: tests.
 * Owns: the disagreements and the list of known classes.
 */
#include "classes.h"

#include "unwind/walk.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { OPINIONS = OPINION_THIRD + 1, MAX_KNOWN = 128, MAX_NAME = 256, MAX_EXTRA_FRAMES = 2 };

/* One kind of disagreement at one instruction. */
typedef struct fault {
    place culprit;
    disagreement kind;
    unsigned long visits;
    unsigned long opinions[OPINIONS];
    char *example;
    const char *symbol; /* at report time */
    uint64_t offset;
    unsigned long leaves;
} fault;

typedef struct known_class {
    char module[MAX_NAME], function[MAX_NAME], kind[MAX_NAME], reason[2 * MAX_NAME];
} known_class;

static fault *faults;
static unsigned fault_count, fault_room;
static known_class known[MAX_KNOWN];
static unsigned known_count;

static const char *const kind_names[DISAGREEMENTS] = {
    "agreed",       "ends-early",  "goes-on",     "skips-a-frame", "invents-a-frame",
    "other-caller", "stop-reason", "ways-differ", "at-a-landing",  "in-no-module",
};

const char *classes_kind_name(disagreement kind)
{
    return kind_names[kind];
}

/* ---- one comparison ---- */

static bool same_frame(const chain *truth, size_t i, uint64_t pc)
{
    return truth->pcs[i] == pc || (i != 0 && i == truth->by_jump && truth->pcs[i] + 1 == pc);
}

static disagreement kind_at(const compare_answer *ours, const chain *truth, size_t i)
{
    if (i == ours->depth) {
        return ENDS_EARLY;
    }
    if (i == truth->depth) {
        return GOES_ON;
    }
    if (i + 1 < truth->depth && ours->pcs[i] == truth->pcs[i + 1]) {
        return SKIPS_A_FRAME;
    }
    if (i + 1 < ours->depth && ours->pcs[i + 1] == truth->pcs[i]) {
        return INVENTS_A_FRAME;
    }
    return OTHER_CALLER;
}

disagreement classes_compare(const compare_answer *ours, const chain *truth, size_t *at)
{
    size_t i = 0;
    while (i < ours->depth && i < truth->depth && same_frame(truth, i, ours->pcs[i])) {
        i++;
    }
    *at = i;
    if (ours->depth == COMPARE_DEPTH && i == ours->depth) {
        return AGREED; /* as deep as the buffer */
    }
    if (i == truth->depth && i == ours->depth) {
        return truth->whole && ours->stop != PP_STOP_END ? OTHER_STOP : AGREED;
    }
    if (i == truth->depth && !truth->whole) {
        return ours->depth <= truth->depth + MAX_EXTRA_FRAMES ? AGREED : GOES_ON;
    }
    return kind_at(ours, truth, i);
}

static uint64_t pc_or_zero(const uint64_t *pcs, size_t depth, size_t i)
{
    return i < depth ? pcs[i] : 0;
}

opinion classes_opinion(const chain *second, const compare_answer *ours, const chain *truth,
                        size_t at)
{
    if (second->depth == 0) {
        return OPINION_NONE;
    }
    for (size_t i = 0; i < at; i++) {
        if (!same_frame(truth, i, pc_or_zero(second->pcs, second->depth, i))) {
            return OPINION_THIRD;
        }
    }
    uint64_t theirs = pc_or_zero(second->pcs, second->depth, at);
    if (theirs == pc_or_zero(truth->pcs, truth->depth, at)) {
        return OPINION_TRUTH;
    }
    return theirs == pc_or_zero(ours->pcs, ours->depth, at) ? OPINION_OURS : OPINION_THIRD;
}

unsigned classes_note(place culprit, disagreement kind, opinion second)
{
    unsigned i = 0;
    while (i < fault_count &&
           (faults[i].culprit.module != culprit.module ||
            faults[i].culprit.address != culprit.address || faults[i].kind != kind)) {
        i++;
    }
    if (i == fault_count) {
        if (fault_count == fault_room) {
            fault_room = fault_room * 2 + 64;
            faults = realloc(faults, fault_room * sizeof *faults);
            if (faults == NULL) {
                perror("compare");
                exit(2);
            }
        }
        faults[fault_count++] = (fault){.culprit = culprit, .kind = kind};
    }
    faults[i].visits++;
    faults[i].opinions[second]++;
    return i;
}

const char *classes_example(unsigned number)
{
    return faults[number].example;
}

void classes_set_example(unsigned number, const char *text)
{
    faults[number].example = strdup(text);
}

/* ---- what is known ---- */

bool classes_read_known(const char *path)
{
    char line[4 * MAX_NAME];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "compare: cannot read the known classes of %s\n", path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL && known_count < MAX_KNOWN) {
        known_class *k = &known[known_count];
        if (line[0] != '#' && sscanf(line, "%255s %255s %255s %511[^\n]", k->module, k->function,
                                     k->kind, k->reason) == 4) {
            known_count++;
        }
    }
    fclose(file);
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const char *module_name(place where)
{
    const char *path = places_module(where.module)->path;
    return path[0] == '\0' ? "[anonymous]" : base_name(path);
}

static const known_class *find_known(const fault *f)
{
    for (unsigned i = 0; i < known_count; i++) {
        if (fnmatch(known[i].module, module_name(f->culprit), 0) == 0 &&
            fnmatch(known[i].function, f->symbol, 0) == 0 &&
            fnmatch(known[i].kind, classes_kind_name(f->kind), 0) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

/* ---- the report ---- */

static int compare_faults(const void *a, const void *b)
{
    const fault *x = a;
    const fault *y = b;
    if (x->culprit.module != y->culprit.module) {
        return x->culprit.module < y->culprit.module ? -1 : 1;
    }
    int names = strcmp(x->symbol, y->symbol);
    if (names != 0 || x->kind != y->kind) {
        return names != 0 ? names : (int)x->kind - (int)y->kind;
    }
    return (x->culprit.address > y->culprit.address) - (x->culprit.address < y->culprit.address);
}

static bool same_class(const fault *a, const fault *b)
{
    return a->culprit.module == b->culprit.module && strcmp(a->symbol, b->symbol) == 0 &&
           a->kind == b->kind;
}

static void print_class(FILE *out, const fault *first, unsigned places, const fault *sum,
                        const known_class *explained)
{
    fprintf(out, "%s  %s  %s: %u instruction%s to blame, %lu leaf PCs, %lu visits\n",
            module_name(first->culprit), first->symbol, classes_kind_name(first->kind), places,
            places == 1 ? "" : "s", sum->leaves, sum->visits);
    fprintf(out, "    libunwind: as we %lu, as the machine %lu, neither %lu, not asked %lu\n",
            sum->opinions[OPINION_OURS], sum->opinions[OPINION_TRUTH], sum->opinions[OPINION_THIRD],
            sum->opinions[OPINION_NONE]);
    fprintf(out, "    first at %s+0x%lx%s%s", module_name(first->culprit),
            (unsigned long)first->culprit.address,
            first->example != NULL ? ", for example\n" : "\n",
            first->example != NULL ? first->example : "");
    fprintf(out, "    %s\n", explained != NULL ? explained->reason : "NOT EXPLAINED");
}

static void prepare_faults(void)
{
    for (const place_record *r = places_next(NULL); r != NULL; r = places_next(r)) {
        if (r->first_class != 0) {
            faults[r->first_class - 1].leaves++;
        }
    }
    for (unsigned i = 0; i < fault_count; i++) {
        const char *symbol = places_symbol(faults[i].culprit, &faults[i].offset);
        bool of_all = faults[i].kind == AT_A_LANDING || faults[i].kind == IN_NO_MODULE;
        faults[i].symbol = of_all ? "*" : symbol[0] != '\0' ? symbol : "-";
    }
    qsort(faults, fault_count, sizeof *faults, compare_faults);
}

unsigned classes_report(FILE *out)
{
    unsigned unexplained = 0;
    if (fault_count == 0) {
        return 0;
    }
    prepare_faults();
    for (unsigned i = 0; i < fault_count;) {
        fault sum = {0};
        unsigned end = i;
        for (; end < fault_count && same_class(&faults[end], &faults[i]); end++) {
            sum.leaves += faults[end].leaves;
            sum.visits += faults[end].visits;
            for (unsigned k = 0; k < OPINIONS; k++) {
                sum.opinions[k] += faults[end].opinions[k];
            }
        }
        const known_class *explained = find_known(&faults[i]);
        unexplained += explained == NULL;
        print_class(out, &faults[i], end - i, &sum, explained);
        i = end;
    }
    return unexplained;
}
