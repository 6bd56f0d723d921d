/* SPDX-License-Identifier: MIT
 *
 * pool.c FILE.pb.gz: a pool allocator whose objects are in the heap profile.
 *
 * Through malloc alone a profile would show who made the pool grow, not who uses it. Two calls
 * change that: pprof_heap_record_alloc() where an object is given out, pprof_heap_record_free()
 * where it comes back. They sample by themselves, at the rate of the heap profile, and cost a few
 * instructions when no sample is due.
 *
 *   cc pool.c -lpprof -o pool && ./pool /tmp/pool.pb.gz && go tool pprof -top /tmp/pool.pb.gz
 */
#include <pprof.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the pool ---- */

enum { OBJECT_BYTES = 96, OBJECTS_OF_CHUNK = 1000 };

/* An object that is not in use holds the link to the next one. */
typedef struct object {
    struct object *next;
    char rest[OBJECT_BYTES - sizeof(struct object *)];
} object;

typedef struct pool {
    object *unused;
    size_t in_use;
} pool;

static int pool_grow(pool *p)
{
    object *chunk = malloc(sizeof *chunk * OBJECTS_OF_CHUNK);
    for (size_t i = 0; chunk != NULL && i < OBJECTS_OF_CHUNK; i++) {
        chunk[i].next = p->unused;
        p->unused = &chunk[i];
    }
    return chunk != NULL;
}

static void *pool_alloc(pool *p)
{
    if (p->unused == NULL && !pool_grow(p)) {
        return NULL;
    }
    object *given = p->unused;
    p->unused = given->next;
    p->in_use++;
    pprof_heap_record_alloc(given, sizeof *given);
    return given;
}

static void pool_free(pool *p, void *given)
{
    pprof_heap_record_free(given); /* first: nobody else can have it yet */
    object *back = given;
    back->next = p->unused;
    p->unused = back;
    p->in_use--;
}

/* ---- a program that uses it ---- */

enum { SESSIONS = 20000, REQUESTS = 500000 };

static void *sessions[SESSIONS];

static void open_sessions(pool *p)
{
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = pool_alloc(p);
    }
}

static void close_half(pool *p)
{
    for (int i = 0; i < SESSIONS; i += 2) {
        pool_free(p, sessions[i]);
    }
}

static void serve_requests(pool *p)
{
    for (int i = 0; i < REQUESTS; i++) {
        void *request = pool_alloc(p);
        pool_free(p, request);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: pool FILE.pb.gz\n");
        return 2;
    }
    pool objects = {0};
    pprof_set_mem_profile_rate(4096); /* this program is small; 524288 is for larger ones */
    open_sessions(&objects);
    serve_requests(&objects);
    close_half(&objects);

    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_write_heap_profile(pprof_writer_fd(fd));
    if (fd < 0 || close(fd) != 0 || error != 0) {
        fprintf(stderr, "pool: %s could not be written: %s\n", argv[1], strerror(-error));
        return 1;
    }
    printf("%zu objects of %d bytes are in use; to see who has them:\n"
           "    go tool pprof -top -sample_index=inuse_objects %s\n",
           objects.in_use, OBJECT_BYTES, argv[1]);
    return 0;
}
