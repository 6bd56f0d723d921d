/* SPDX-License-Identifier: MIT
 *
 * heap_cycles.c: a described heap, step by step: reads from standard input, prints at each "read"
 * how many objects of each site were allocated and freed. Go's own is in go/heap_cycles.go.
 *
 *   alloc SITE | sweep SITE (the oldest one) | next | flush | post_sweep | read
 */
#include <pprof.h>

#include "must.h"

#include <stdint.h>

enum { SITES = 8, RECORDS = 200 };

static uintptr_t given[SITES], swept[SITES];

/* They do not exist: addresses are compared, never looked into. */
static void *object(unsigned site, uintptr_t number)
{
    return (void *)(0x10000000 +
                    (number * SITES + site) * 16); /* NOLINT(performance-no-int-to-ptr) */
}

static int64_t size_of(unsigned site)
{
    static const int64_t sizes[SITES] = {1152, 1408, 1792, 2304, 2688, 3456, 4864, 6144};
    return sizes[site];
}

static void read_records(void)
{
    static pprof_mem_record records[RECORDS];
    int64_t allocated[SITES] = {0};
    int64_t freed[SITES] = {0};
    size_t n = 0;
    check(pprof_mem_profile(records, RECORDS, &n, true), "pprof_mem_profile");
    for (size_t i = 0; i < n; i++) {
        for (unsigned site = 0; site < SITES; site++) {
            if (records[i].alloc_bytes == records[i].alloc_objects * size_of(site)) {
                allocated[site] += records[i].alloc_objects;
                freed[site] += records[i].free_objects;
            }
        }
    }
    for (unsigned site = 0; site < SITES; site++) {
        printf("%lld-%lld ", (long long)allocated[site], (long long)freed[site]);
    }
    printf("\n");
}

int main(void)
{
    static char line[64];
    setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* all that stdio takes from malloc, before it counts */
    setvbuf(stdin, NULL, _IOFBF, 1 << 16);
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    pprof_heap_record_alloc(line, 80); /* as Go, whose start leaves a sample */
    pprof_set_mem_profile_rate(PPROF_RATE_OFF);
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned site = (unsigned)strtoul(line + strcspn(line, " \n"), NULL, 10) % SITES;
        switch (line[0]) {
        case 'a':
            pprof_set_mem_profile_rate(PPROF_RATE_ALL);
            pprof_heap_record_alloc(object(site, given[site]++), (size_t)size_of(site));
            pprof_set_mem_profile_rate(PPROF_RATE_OFF);
            break;
        case 's':
            pprof_heap_record_sweep(object(site, swept[site]++));
            break;
        case 'n':
            pprof_heap_cycle_next();
            break;
        case 'f':
            pprof_heap_cycle_flush();
            break;
        case 'p':
            pprof_heap_cycle_post_sweep();
            break;
        default:
            read_records();
        }
    }
    return 0;
}
