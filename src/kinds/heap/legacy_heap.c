/* SPDX-License-Identifier: MIT
 *
 * legacy_heap.c: header, rows, statistics, maps (the header file has the layout).
 *
 * This is no part of heap_profile.c, which also serves the writer of a fatal signal: the memory
 * statistics ask the allocator, which another thread may have locked then.
 *
 * Zone: NORMAL (no malloc, no stdio).
 * Tested by: e2e.heap_text, e2e.text_forms
 */
#include "kinds/heap/legacy_heap.h"

#include "encode/text_rows.h"
#include "kinds/heap/heap_profile.h"
#include "kinds/heap/heap_rows.h"
#include "output/symbolize.h"
#include "modules/maps.h"

#include <errno.h>
#include <stdint.h>

/* ---- rows ---- */

static void write_values(pp_text_stream *out, const int64_t value[PP_HEAP_VALUES])
{
    pp_text_stream_number(out, value[PP_HEAP_INUSE_OBJECTS]);
    pp_text_stream_add(out, ": ");
    pp_text_stream_number(out, value[PP_HEAP_INUSE_SPACE]);
    pp_text_stream_add(out, " [");
    pp_text_stream_number(out, value[PP_HEAP_ALLOC_OBJECTS]);
    pp_text_stream_add(out, ": ");
    pp_text_stream_number(out, value[PP_HEAP_ALLOC_SPACE]);
    pp_text_stream_add(out, "] @");
}

static void write_header(pp_text_stream *out, const pp_legacy_heap *heap)
{
    int64_t total[PP_HEAP_VALUES] = {0};
    for (size_t i = 0; i < heap->profile.sample_count; i++) {
        for (int k = 0; k < PP_HEAP_VALUES; k++) {
            total[k] += heap->profile.samples[i].value[k];
        }
    }
    if (total[PP_HEAP_ALLOC_SPACE] == total[PP_HEAP_INUSE_SPACE]) {
        total[PP_HEAP_ALLOC_SPACE]++; /* so that readers use all four columns, as in Go 1.26 */
    }
    pp_text_stream_add(out, "heap profile: ");
    write_values(out, total);
    if (heap->scaled) {
        pp_text_stream_add(out, " heapprofile\n");
        return;
    }
    pp_text_stream_add(out, " heap/");
    pp_text_stream_unsigned(out, heap->rate <= INT64_MAX / 2 ? 2 * heap->rate : INT64_MAX);
    pp_text_stream_add(out, "\n");
}

static void write_row(pp_text_stream *out, const pp_profile_sample *sample)
{
    write_values(out, sample->value);
    pp_text_stream_stack(out, sample->pc, sample->depth);
    pp_text_stream_add(out, "\n");
}

/* ---- statistics ---- */

static void write_number(pp_text_stream *out, const char *name, uint64_t number)
{
    pp_text_stream_add(out, "# ");
    pp_text_stream_add(out, name);
    pp_text_stream_add(out, " = ");
    pp_text_stream_unsigned(out, number);
    pp_text_stream_add(out, "\n");
}

/* The line shows bytes in use / bytes from the kernel; here the two are equal. */
static void write_pair(pp_text_stream *out, const char *name, uint64_t number)
{
    pp_text_stream_add(out, "# ");
    pp_text_stream_add(out, name);
    pp_text_stream_add(out, " = ");
    pp_text_stream_unsigned(out, number);
    pp_text_stream_add(out, " / ");
    pp_text_stream_unsigned(out, number);
    pp_text_stream_add(out, "\n");
}

static void write_flag(pp_text_stream *out, const char *name, bool flag)
{
    pp_text_stream_add(out, "# ");
    pp_text_stream_add(out, name);
    pp_text_stream_add(out, flag ? " = true\n" : " = false\n");
}

static void write_heap(pp_text_stream *out, const pp_memory_stats *memory)
{
    write_number(out, "Alloc", memory->heap_alloc);
    write_number(out, "TotalAlloc", memory->total_alloc);
    write_number(out, "Sys", memory->heap_sys + memory->stack + memory->own);
    write_number(out, "Lookups", 0);
    write_number(out, "Mallocs", memory->mallocs);
    write_number(out, "Frees", memory->frees);
    write_number(out, "HeapAlloc", memory->heap_alloc);
    write_number(out, "HeapSys", memory->heap_sys);
    write_number(out, "HeapIdle", memory->heap_idle);
    write_number(out, "HeapInuse", memory->heap_sys - memory->heap_idle);
    write_number(out, "HeapReleased", 0);
    write_number(out, "HeapObjects", memory->mallocs - memory->frees);
    write_pair(out, "Stack", memory->stack);
    write_pair(out, "MSpan", 0);
    write_pair(out, "MCache", 0);
    write_number(out, "MHeapMapSys", 0);
    write_number(out, "BuckHashSys", memory->own);
    write_number(out, "GCSys", 0);
    write_number(out, "OtherSys", 0);
}

static void write_collector(pp_text_stream *out, const pp_heap_collector *collector)
{
    write_number(out, "NextGC", 0);
    write_number(out, "LastGC", collector->last_end_ns);
    write_number(out, "PauseNs", 0);
    write_number(out, "PauseEnd", 0);
    write_number(out, "NumGC", collector->collections);
    write_number(out, "NumForcedGC", collector->collections_forced);
    write_number(out, "GCCPUFraction", 0);
    write_flag(out, "EnableGC", collector->exists);
    write_flag(out, "DebugGC", false);
}

static void write_sizes(pp_text_stream *out, const pp_memory_stats *memory)
{
    pp_text_stream_add(out, "# BySize = Size * (Active = Mallocs - Frees)\n"
                            "# (Excluding large blocks.)\n");
    for (unsigned i = 0; i < PP_SIZE_CLASSES; i++) {
        const pp_size_class *class = &memory->by_size[i];
        if (class->mallocs == 0) {
            continue;
        }
        pp_text_stream_add(out, "# ");
        pp_text_stream_unsigned(out, class->size);
        pp_text_stream_add(out, " * (");
        pp_text_stream_unsigned(out, class->mallocs - class->frees);
        pp_text_stream_add(out, " = ");
        pp_text_stream_unsigned(out, class->mallocs);
        pp_text_stream_add(out, " - ");
        pp_text_stream_unsigned(out, class->frees);
        pp_text_stream_add(out, ")\n");
    }
}

static void write_statistics(pp_text_stream *out, const pp_memory_stats *memory)
{
    pp_text_stream_add(out, "\n# runtime.MemStats\n");
    pp_text_stream_add(out, memory->is_libc
                                ? "# (Estimated from samples: TotalAlloc, Mallocs, Frees,"
                                  " HeapObjects, BySize.)\n"
                                : "# (Estimated from samples: Alloc, TotalAlloc, Mallocs, Frees,"
                                  " HeapAlloc, HeapSys, HeapInuse, HeapObjects, BySize.)\n");
    write_heap(out, memory);
    write_collector(out, &memory->collector);
    write_sizes(out, memory);
    write_number(out, "MaxRSS", memory->peak_rss);
}

/* ---- the whole text ---- */

int pp_legacy_heap_encode(const pp_legacy_heap *heap, bool bare, pp_arena *arena,
                          pprof_writer writer)
{
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    const char *maps = NULL;
    size_t maps_length = 0;
    int maps_error = pp_maps_text_if_any(arena, &maps, &maps_length);
    write_header(&out, heap);
    int error = pp_text_rows_write(&out, &heap->profile, write_row, bare, true, arena);
    if (error != 0) {
        pp_text_stream_fail(&out, error);
    }
    write_statistics(&out, &heap->memory);
    pp_text_stream_add(&out, "\nMAPPED_LIBRARIES:\n");
    if (maps_error == 0) {
        pp_text_stream_bytes(&out, maps, maps_length);
    }
    int write_error = pp_text_stream_finish(&out);
    return write_error != 0 ? write_error : maps_error;
}

/* ---- what it shows ---- */

/* Reads the memory statistics first, so that they do not count the memory of the rows. Samples are
 * in the order of bytes in use, whatever the profile's name is, as in Go. */
static int collect(pp_arena *arena, pp_legacy_heap *heap)
{
    pp_heap_rows rows;
    pp_memory_stats_read(&heap->memory);
    int error = pp_heap_rows_read(PP_HEAP_NOW, PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE, arena, &rows);
    if (error != 0) {
        return error;
    }
    pp_memory_stats_estimate(&rows, &heap->memory);
    heap->scaled = rows.scaled;
    heap->rate = rows.rate;
    return pp_heap_profile_of_rows(&rows, PP_HEAP_INUSE, arena, &heap->profile);
}

int pp_legacy_heap_write(bool bare, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_legacy_heap heap;
    int error = collect(&arena, &heap);
    if (error == 0) {
        heap.profile.symbolize = pp_symbolize_wanted();
        error = pp_legacy_heap_encode(&heap, bare, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
