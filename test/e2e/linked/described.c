/* SPDX-License-Identifier: MIT
 *
 * described.c: objects of a heap that the program describes itself, for the option alloctrace. They
 * do not exist: their addresses are compared, never looked into.
 */
#include <pprof.h>

#include <stdint.h>

static void *object(uintptr_t number)
{
    return (void *)(0x10000000 + number * 16); /* NOLINT(performance-no-int-to-ptr) */
}

int main(void)
{
    static const size_t sizes[] = {100, 0, 5000, 1 << 20, 100};
    const uintptr_t count = sizeof sizes / sizeof *sizes;
    for (uintptr_t i = 0; i < count; i++) {
        pprof_heap_record_alloc(object(i), sizes[i]);
    }
    for (uintptr_t i = 0; i < count; i++) {
        if (i % 2 == 0) {
            pprof_heap_record_free(object(i));
        } else {
            pprof_heap_record_sweep(object(i));
        }
    }
    /* Given out again without a free that we saw; of another size. */
    pprof_heap_record_alloc(object(0), 7);
    pprof_heap_record_alloc(object(0), 9);
    pprof_heap_record_free(object(0));
    /* Nobody has told of these. */
    pprof_heap_record_free(object(0));
    pprof_heap_record_sweep(object(77));
    return 42;
}
