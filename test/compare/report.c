/* SPDX-License-Identifier: MIT
 *
 * report.c: the table by module, in Markdown.
 *
 * A PC is an instruction that was executed. It agrees if all walks that began there were right.
 *
 * Zone: tests.
 */
#include "report.h"

#include "places.h"

#include <stdlib.h>

typedef struct tally {
    unsigned module;
    unsigned long pcs, compared, agreed, guessed, steps, walks;
    unsigned long second_asked, second_agreed;
} tally;

static void add(tally *t, const place_record *r)
{
    t->pcs++;
    t->steps += r->visits;
    t->walks += r->compared;
    t->compared += r->compared > 0;
    t->agreed += r->compared > 0 && r->disagreed == 0;
    t->guessed += r->guessed;
    t->second_asked += r->second_asked > 0;
    t->second_agreed += r->second_asked > 0 && r->second_agreed == r->second_asked;
}

static double percent(unsigned long part, unsigned long whole)
{
    return whole == 0 ? 100.0 : 100.0 * (double)part / (double)whole;
}

static int by_compared(const void *a, const void *b)
{
    const tally *x = a;
    const tally *y = b;
    return (x->compared < y->compared) - (x->compared > y->compared);
}

static void print_row(FILE *out, const char *name, const tally *t)
{
    fprintf(out, "| %s | %lu | %lu | %lu | %.3f | %lu | %lu | ", name, t->pcs, t->compared,
            t->compared - t->agreed, percent(t->agreed, t->compared), t->guessed, t->walks);
    if (t->second_asked > 0) {
        fprintf(out, "%.2f of %lu | ", percent(t->second_agreed, t->second_asked), t->second_asked);
    } else {
        fprintf(out, "- | ");
    }
    fprintf(out, "%lu |\n", t->steps);
}

double report_modules(FILE *out)
{
    static tally tallies[PLACES_MODULES];
    tally all = {0};
    unsigned count = places_module_count();
    for (unsigned i = 0; i < count; i++) {
        tallies[i] = (tally){.module = i};
    }
    for (const place_record *r = places_next(NULL); r != NULL; r = places_next(r)) {
        add(&tallies[places_of_record(r).module], r);
        add(&all, r);
    }
    qsort(tallies, count, sizeof *tallies, by_compared);
    fprintf(out, "| module | PCs | compared | wrong | agree %% | guessed | walks "
                 "| libunwind agrees %% | steps |\n|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned i = 0; i < count; i++) {
        if (tallies[i].pcs == 0) {
            continue;
        }
        const char *path = places_module(tallies[i].module)->path;
        print_row(out, path[0] == '\0' ? "[anonymous]" : path, &tallies[i]);
    }
    print_row(out, "all", &all);
    return percent(all.agreed, all.compared);
}

bool report_append(const char *path)
{
    FILE *file = fopen(path, "ae");
    if (file == NULL) {
        return false;
    }
    for (const place_record *r = places_next(NULL); r != NULL; r = places_next(r)) {
        place where = places_of_record(r);
        if (r->compared > 0 && places_is_file(where)) {
            fprintf(file, "%s %lx %d\n", places_module(where.module)->path,
                    (unsigned long)where.address, r->disagreed > 0);
        }
    }
    return fclose(file) == 0;
}
