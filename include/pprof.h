/* SPDX-License-Identifier: MIT
 *
 * pprof.h: profiles of a native Linux program, in the form that `go tool pprof` reads.
 *
 * Every function returns 0 or a negative errno unless it says otherwise. Nothing here ever aborts
 * or prints inside the host program.
 */
#ifndef PPROF_H
#define PPROF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PPROF_API __attribute__((visibility("default")))
#else
#define PPROF_API
#endif

/* ---- Where a profile goes ------------------------------------------------------------------ */

/*
 * A destination for the bytes of a profile.
 *
 * write() gets `len` bytes at `data`, consumes all of them, and returns 0 or a negative errno. It
 * is called on the thread that asked for the profile (for a CPU profile: on the thread that stops
 * it). After its first error it is not called again, and that error is what the profile call
 * returns. `ctx` is passed through and must stay valid until the profile has been written.
 */
typedef struct pprof_writer {
    int (*write)(void *ctx, const void *data, size_t len);
    void *ctx;
} pprof_writer;

/*
 * A writer on an open file descriptor, which stays the caller's: it is neither duplicated nor
 * closed. Interrupted and short writes are continued. An invalid descriptor shows as -EBADF from
 * the first write. Thread-safe; async-signal-safe.
 */
PPROF_API pprof_writer pprof_writer_fd(int fd);

/*
 * A writer on a stdio stream, which stays the caller's. What is written is flushed with each
 * write, so that a full disk is reported by the profile call and not lost at fclose().
 * A NULL stream makes a writer whose first write fails with -EINVAL. Thread-safe.
 */
PPROF_API pprof_writer pprof_writer_stdio(FILE *file);

/* ---- CPU profile [runtime/pprof StartCPUProfile, StopCPUProfile] --------------------------- */

enum {
    PPROF_ENGINE_AUTO = 0,  /* today: TIMER */
    PPROF_ENGINE_TIMER = 1, /* one POSIX timer on the CPU clock of each thread */
    PPROF_ENGINE_PERF = 2   /* and a perf event on its task clock, for 1 to 10 kHz; where the kernel
                               refuses that: TIMER, and the profile's comments say so */
};

enum {
    PPROF_FORMAT_PROTO = 0, /* gzipped profile.proto */
    PPROF_FORMAT_LEGACY = 1 /* the binary format of gperftools, with the text of the maps */
};

/*
 * size    sizeof(pprof_cpu_options), so that fields can be added later; 0 is -EINVAL
 * hz      samples per second of CPU time and thread, 1 to 1 000 000; 0 means 100.
 *         Outside that range: -EINVAL.
 * engine  PPROF_ENGINE_*; an unknown one is -EINVAL
 * format  PPROF_FORMAT_*
 */
typedef struct pprof_cpu_options {
    size_t size;
    int hz;
    int engine;
    int format;
} pprof_cpu_options;

/*
 * Starts the CPU profile of the whole process at 100 Hz: every thread that exists and every thread
 * that is created until the stop. The profile is kept in memory and written by
 * pprof_stop_cpu_profile().
 *
 * Errors: -EBUSY while a CPU profile runs (also one that LIBPPROF=cpu started); -EINVAL for a
 * writer without write(); -ENOMEM; -EAGAIN if not a single timer could be armed
 * (RLIMIT_SIGPENDING); -EPERM if a seccomp filter is in the way.
 * Callable from any thread; not async-signal-safe.
 */
PPROF_API int pprof_start_cpu_profile(pprof_writer writer);

/* The same with options; NULL means all defaults. */
PPROF_API int pprof_start_cpu_profile_opts(pprof_writer writer, const pprof_cpu_options *options);

/*
 * Stops the CPU profile and writes it through the writer that it was started with; returns after
 * the last write, with the first write error, or 0. 0 if none ran. Callable from any thread, also
 * another one than the starter; of two concurrent callers one writes and both return after it. Not
 * async-signal-safe.
 */
PPROF_API int pprof_stop_cpu_profile(void);

/* ---- Named profiles [runtime/pprof Profile, Lookup] ---------------------------------------- */

typedef struct pprof_profile pprof_profile;

/*
 * The profile of that name, or NULL. Built in: "heap" and "allocs", the same samples seen from what
 * is in use now or from all that was ever allocated; with the option `peak` also "peak": "heap" as it
 * was when the most was in use (within 5 %). A profile is never freed. Thread-safe.
 */
PPROF_API pprof_profile *pprof_lookup(const char *name);

/* Its name; NULL for NULL. Thread-safe; async-signal-safe. */
PPROF_API const char *pprof_profile_name(const pprof_profile *profile);

/*
 * Writes a snapshot of the profile. debug 0: gzipped profile.proto. The program is not stopped; what
 * happens meanwhile may or may not be in it. Errors: -EINVAL for a NULL profile or a writer without
 * write(); -ENOTSUP for another debug; -ENOMEM; the writer's first error. Callable from any thread,
 * several at a time; not async-signal-safe.
 */
PPROF_API int pprof_profile_write(pprof_profile *profile, pprof_writer writer, int debug);

/* ---- Heap [runtime/pprof WriteHeapProfile, runtime MemProfileRate] -------------------------- */

/* pprof_profile_write() of "heap" as profile.proto. */
PPROF_API int pprof_write_heap_profile(pprof_writer writer);

/*
 * Sets how many bytes are allocated between two samples on the average: 1 takes every block, 0
 * turns sampling off, a negative number changes nothing. Returns what was set before. Each sample
 * remembers its rate, so that profiles stay right when it changes. In the calling thread it holds at
 * once, in another one as soon as that has allocated 128 KiB more.
 *
 * A program that is linked to libpprof begins with 524288, one that it is preloaded into with 0;
 * where the environment has LIBPPROF, what that says. Thread-safe.
 */
PPROF_API int64_t pprof_set_mem_profile_rate(int64_t bytes);

/* ---- Stacks [runtime.Callers] -------------------------------------------------------------- */

/*
 * Stores the return addresses of the calling thread's stack in `pcs`, leaf-most first, and returns
 * how many were stored, at most `capacity`. skip 0 starts at the caller of pprof_callers (the
 * address to which pprof_callers returns), 1 at that function's caller, and so on; frames are
 * physical ones (an inlined function is part of its caller). A negative skip counts as 0.
 * Thread-safe and async-signal-safe; takes no lock and allocates nothing.
 */
PPROF_API size_t pprof_callers(int skip, uintptr_t *pcs, size_t capacity);

/* ---- Options ------------------------------------------------------------------------------- */

/*
 * Applies a comma-separated list of options, as the environment variable LIBPPROF does at start-up
 * (see README.md for the list). Unknown words are reported once on stderr and skipped.
 * Returns 0, or the first error: -EINVAL (unknown word or bad value; the others still apply),
 * -ENOTSUP (known, but not in this version), or what starting a profile returned. Any thread; not
 * async-signal-safe.
 */
PPROF_API int pprof_configure(const char *options);

/* ---- Version ------------------------------------------------------------------------------- */

/* major * 10000 + minor * 100 + patch, of the library that is loaded. */
PPROF_API unsigned pprof_version_number(void);
/* The same as text, "0.1.0"; static storage. */
PPROF_API const char *pprof_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
