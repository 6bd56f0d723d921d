/* SPDX-License-Identifier: MIT
 *
 * boehm.c FILE.pb.gz [late | bypass]: a heap profile of the Boehm collector's heap, without skew.
 *
 * A collector frees late. What became garbage since the last collection is still counted when the
 * profile is taken: not because it is in use, but because nobody has looked. The younger an object,
 * the more likely that is, so that such a profile shows too much of whatever allocates fast.
 *
 * libpprof counts in cycles instead, which the collector drives:
 *
 *   GC_EVENT_MARK_END           pprof_heap_cycle_next        what lives now is known
 *   GC_EVENT_POST_START_WORLD   pprof_heap_cycle_flush       the cycle before is shown
 *   GC_EVENT_RECLAIM_START      pprof_heap_record_sweep      for each object that was not marked
 *   GC_EVENT_RECLAIM_END        pprof_heap_cycle_post_sweep  the heap as of this mark is shown
 *
 * The profile is then the heap as it was at the end of the last marking. pprof_set_collector() has
 * the collector run before the profile is written, so that this is now. With "late" it is not set:
 * the profile is as old as the last collection. With "bypass" the cycle is not driven either, and
 * the profile shows the skew.
 *
 * Boehm's collector does not say what it sweeps, so the program keeps a weak list of its objects
 * and asks for their mark bits. The list lies in memory from malloc, where the collector does not
 * look for pointers. A program with several threads needs a lock around it, and has to define
 * GC_THREADS; objects that finalizers bring back to life must be looked at after these have run.
 *
 *   cc boehm.c -lpprof -lgc -o boehm && ./boehm /tmp/gc.pb.gz && go tool pprof -top /tmp/gc.pb.gz
 */
#include <pprof.h>

#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool late, bypass;

/* ---- the weak list ---- */

static struct {
    void **objects;
    size_t count, capacity;
} weak;

static void weak_add(void *object)
{
    if (weak.count == weak.capacity) {
        size_t capacity = weak.capacity == 0 ? 4096 : weak.capacity * 2;
        void **larger = realloc(weak.objects, capacity * sizeof *larger);
        if (larger == NULL) {
            return; /* this one will look as if it was never freed */
        }
        weak.objects = larger;
        weak.capacity = capacity;
    }
    weak.objects[weak.count++] = object;
}

/* Tells of every object that the collector is about to take back. Allocates nothing: it runs inside
 * of the collector. */
static void weak_sweep(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < weak.count; i++) {
        if (GC_is_marked(weak.objects[i])) {
            weak.objects[kept++] = weak.objects[i];
        } else {
            pprof_heap_record_sweep(weak.objects[i]);
        }
    }
    weak.count = kept;
}

/* ---- the collector's heap ---- */

static void on_collection_event(GC_EventType event)
{
    switch (event) {
    case GC_EVENT_MARK_END:
        if (!bypass) {
            pprof_heap_cycle_next();
        }
        break;
    case GC_EVENT_POST_START_WORLD:
        if (!bypass) {
            pprof_heap_cycle_flush();
        }
        break;
    case GC_EVENT_RECLAIM_START:
        weak_sweep();
        break;
    case GC_EVENT_RECLAIM_END:
        if (!bypass) {
            pprof_heap_cycle_post_sweep();
        }
        break;
    default:
        break;
    }
}

static void *gc_new(size_t size)
{
    void *object = GC_MALLOC(size);
    if (object != NULL) {
        weak_add(object);
        pprof_heap_record_alloc(object, size);
    }
    return object;
}

static void collect(void)
{
    GC_gcollect();
}

/* ---- a program that uses it ---- */

enum { DOCUMENTS = 2000, DOCUMENT_BYTES = 1000, WORDS = 20000, WORD_BYTES = 200 };

typedef struct document {
    struct document *next;
    char text[DOCUMENT_BYTES - sizeof(struct document *)];
} document;

static document *documents;

static void load_documents(void)
{
    for (int i = 0; i < DOCUMENTS; i++) {
        document *d = gc_new(sizeof *d);
        d->next = documents;
        documents = d;
    }
}

/* Everything is garbage as soon as it was used. */
static void parse_words(void)
{
    for (int i = 0; i < WORDS; i++) {
        char *word = gc_new(WORD_BYTES);
        word[0] = (char)i;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: boehm FILE.pb.gz [late | bypass]\n");
        return 2;
    }
    bypass = argc > 2 && strcmp(argv[2], "bypass") == 0;
    late = bypass || (argc > 2 && strcmp(argv[2], "late") == 0);
    pprof_set_mem_profile_rate(1); /* every object: this program is small */
    GC_INIT();
    GC_set_on_collection_event(on_collection_event);
    if (!late) {
        pprof_set_collector(collect);
    }

    load_documents();
    parse_words();
    collect();
    GC_disable();  /* else it depends on the collector when the next collection comes */
    parse_words(); /* garbage that no collection has seen */
    GC_enable();

    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_write_heap_profile(pprof_writer_fd(fd));
    if (fd < 0 || close(fd) != 0 || error != 0) {
        fprintf(stderr, "boehm: %s could not be written: %s\n", argv[1], strerror(-error));
        return 1;
    }
    printf("documents: %d bytes in use; words: none; what the profile says:\n"
           "    go tool pprof -top %s\n",
           DOCUMENTS * DOCUMENT_BYTES, argv[1]);
    return 0;
}
