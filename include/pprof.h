/* SPDX-License-Identifier: MIT
 *
 * pprof.h: profiles of a native Linux program, in the form that `go tool pprof` reads.
 *
 * Every function returns 0 or a negative errno unless it says otherwise. Nothing here ever aborts
 * or prints inside the host program.
 */
#ifndef PPROF_H
#define PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PPROF_API __attribute__((visibility("default")))
#else
#define PPROF_API
#endif

/*
 * Functions that take the stack of their caller are marked PPROF_TAKES_STACK. The compiler may turn
 * a call that is the last thing a function does (`return pprof_profile_add(p, v, 0);`) into a jump
 * (a tail call): then the calling function is on no stack, and the stack begins one function too
 * high. An attribute keeps clang from that. For gcc each of these names is also a macro, which has
 * something to do after the call (the end of this file). As with a macro of the C library,
 * (pprof_profile_add)(p, v, 0) calls the function itself, and so does every call after an #undef,
 * or if PPROF_NO_MACROS is defined before this file is included. Programs that define such a
 * function themselves, or have a member of that name in a struct, need that. Other compilers, and
 * calls through a pointer, may jump.
 */
#if defined(__clang__)
#if __has_attribute(not_tail_called)
#define PPROF_TAKES_STACK __attribute__((not_tail_called))
#endif
#endif
#ifndef PPROF_TAKES_STACK
#define PPROF_TAKES_STACK
#endif

/* ---- Where a profile goes ------------------------------------------------------------------ */

/*
 * A destination for the bytes of a profile.
 *
 * write() gets `len` bytes at `data`, consumes all of them, and returns 0 or a negative errno. The
 * thread that asks for the profile calls it (for a CPU profile: the thread that stops the profile).
 * After its first error it is not called again, and the profile call returns that error. `ctx` is
 * passed through and must stay valid until the profile has been written.
 */
typedef struct pprof_writer {
    int (*write)(void *ctx, const void *data, size_t len);
    void *ctx;
} pprof_writer;

/*
 * A writer on an open file descriptor, which stays the caller's: it is neither duplicated nor
 * closed. Interrupted and short writes are continued. With an invalid descriptor the first write
 * returns -EBADF. A write to a pipe without a reader raises SIGPIPE, as write(2) does, and returns
 * -EPIPE where that signal is ignored. Thread-safe; async-signal-safe.
 */
PPROF_API pprof_writer pprof_writer_fd(int fd);

/*
 * A writer on a stdio stream, which stays the caller's. Each write is flushed, so that the profile
 * call reports a full disk, and the error is not lost at fclose().
 * A NULL stream makes a writer whose first write fails with -EINVAL. Thread-safe.
 */
PPROF_API pprof_writer pprof_writer_stdio(FILE *file);

/* ---- CPU profile [runtime/pprof StartCPUProfile, StopCPUProfile] --------------------------- */

enum {
    PPROF_ENGINE_AUTO = 0,  /* today: TIMER */
    PPROF_ENGINE_TIMER = 1, /* one POSIX timer on the CPU clock of each thread */
    PPROF_ENGINE_PERF = 2 /* also a perf event on its task clock, for 1 to 10 kHz; where the kernel
                               refuses that: TIMER, and the profile's comments say so */
};

enum {
    PPROF_FORMAT_PROTO = 0, /* gzipped profile.proto */
    PPROF_FORMAT_LEGACY = 1 /* the binary format of gperftools, with the text of the maps */
};

/*
 * size    sizeof(pprof_cpu_options), so that fields can be added later; less, or 0, is -EINVAL
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
 * Errors: -EBUSY while a CPU profile runs, also one that LIBPPROF=cpu or `cpprof record` started
 * (it goes on, and a comment in it counts the refusals), or a wall-clock profile that began before,
 * which has the sampler; -EINVAL for a writer without write();
 * -ENOMEM; -EAGAIN if not a single timer could be armed (RLIMIT_SIGPENDING); -EPERM if a seccomp
 * filter is in the way.
 * Callable from any thread; not async-signal-safe.
 */
PPROF_API int pprof_start_cpu_profile(pprof_writer writer);

/* pprof_start_cpu_profile() with options; NULL means all defaults. */
PPROF_API int pprof_start_cpu_profile_opts(pprof_writer writer, const pprof_cpu_options *options);

/*
 * Stops the CPU profile and writes it through the writer that it was started with. Returns after
 * the last write, with the first write error, or 0. 0 if no CPU profile ran. Callable from any
 * thread, not only the one that started the profile; of two concurrent callers one writes, and both
 * return after that. It also ends a profile that LIBPPROF=cpu or `cpprof record` started, which then
 * is written at once and says so. Not async-signal-safe.
 */
PPROF_API int pprof_stop_cpu_profile(void);

/* ---- Wall-clock profile -------------------------------------------------------------------- */

/*
 * Starts a profile of all time of all threads, running or waiting, with the label `state`
 * (docs/WALL.md). `hz`: how often in a second the threads that wait are looked at, 1 to 1000; 0 means
 * 20. A thread of the library looks until the stop, and the CPU sampler runs. Any number of wall-clock
 * profiles share these, those of LIBPPROF=wall and of /debug/pprof/wall too: then the `hz` is that of
 * the first one. The option `thread-label` holds for it.
 *
 * Errors: -EBUSY while a profile that was started by this function runs, or if another thread begins or
 * ends one for long; -EINVAL for a writer without write(), or another hz; -ENOMEM; -EAGAIN if no timer
 * or thread could be had; -EPERM if the program has confined itself. Callable from any thread; not
 * async-signal-safe.
 */
PPROF_API int pprof_start_wall_profile(pprof_writer writer, int hz);

/*
 * Stops the profile that pprof_start_wall_profile() has started, and writes it through that writer.
 * Returns after the last write, with its first error, or 0. 0 if none ran, as in a child of fork.
 * Callable from any thread; of two concurrent callers one writes, and both return after that; -EBUSY
 * from the writer itself. Not async-signal-safe.
 */
PPROF_API int pprof_stop_wall_profile(void);

/* ---- Named profiles [runtime/pprof Profile, NewProfile, Lookup, Profiles] ------------------- */

typedef struct pprof_profile pprof_profile;

/*
 * Makes a profile of the program's own. It counts things (open connections, sessions, objects of a
 * kind) by the stacks that led to them. The name is copied. "/" and "." are allowed, and names like
 * "import/path.connections" keep the profiles of different libraries apart. The profile is never
 * freed.
 *
 * NULL and errno: EINVAL for NULL, an empty name, or one with white space or control characters;
 * ENAMETOOLONG (1023 bytes are allowed); EEXIST if there is a profile of that name, if a built-in
 * profile has that name, or if the HTTP server uses it for something else (profile, cmdline,
 * symbol, flame, trace, growth, contention, deadlock, delta_...); ENOMEM. Callable from any thread; not
 * async-signal-safe.
 */
PPROF_API pprof_profile *pprof_new_profile(const char *name);

/*
 * The profile of that name, or NULL. A profile is never freed. Thread-safe. Built in are:
 *
 *   "heap", "allocs"    the same samples, seen by what is in use now, or by all that was ever
 *                       allocated
 *   "peak"              with the option `peak`: "heap" when the most was in use (within 5 %)
 *   "leak"              while "heap" is sampled: what is in use, and nothing refers to it any more.
 *                       pprof_profiles() has it with the option `leak` only
 *   "lifetime"          while "heap" is sampled: what was freed, how long it lived, and where it was
 *                       freed, from the option `lifetime` or the first call that writes it on.
 *                       pprof_profiles() has it with the option only
 *   "memory"            what is resident now, by what holds it. pprof_profiles() has it with the option
 *                       `memory` only
 *   "block", "mutex"    where threads wait, and what makes them wait
 *   "thread"            (also by the name "goroutine") where each thread is now, and each task of
 *                       a runtime (<pprof_task.h>)
 *   "threadcreate"      where each thread was created
 *   "fd"                with the option `fd`: where the open descriptors were opened
 */
PPROF_API pprof_profile *pprof_lookup(const char *name);

/*
 * Stores all profiles in `profiles`, sorted by name, at most `capacity` of them, and returns how
 * many profiles there are. Thread-safe.
 */
PPROF_API size_t pprof_profiles(pprof_profile **profiles, size_t capacity);

/* The profile's name; NULL for NULL. Thread-safe; async-signal-safe. */
PPROF_API const char *pprof_profile_name(const pprof_profile *profile);

/*
 * How many entries the profile has now [Profile.Count]: for "heap" and "allocs" the places where
 * something was sampled, also those where all of it was freed, as pprof_mem_profile() counts them;
 * for "block" and "mutex" the records; for a profile of the program's own the values in it. 0 for
 * NULL. Callable from any thread; not async-signal-safe.
 */
PPROF_API size_t pprof_profile_count(pprof_profile *profile);

/*
 * Adds `value` to a profile of the program's own, with the calling thread's stack and labels
 * [Profile.Add]. A value is an address, or any other word, NULL too: libpprof compares it, and
 * never reads the memory that it points to. skip 0 begins the stack at the caller, 1 at the
 * caller's caller, and so on (pprof_callers()); if no frame is left, the stack is the function
 * pprof_lost_profile_event.
 *
 * Errors: -EEXIST if the profile has the value already (which stays as it is); -EPERM for a
 * built-in profile; -EINVAL for NULL; -ENOMEM. Callable from any thread, in an allocator too:
 * nothing is allocated with malloc. Not async-signal-safe.
 */
PPROF_TAKES_STACK PPROF_API int pprof_profile_add(pprof_profile *profile, const void *value,
                                                  int skip);

/*
 * Removes `value` from the profile [Profile.Remove]. 0, also if the profile does not have it;
 * -EPERM for a built-in profile; -EINVAL for NULL. As pprof_profile_add(): any thread, no malloc,
 * not async-signal-safe.
 */
PPROF_API int pprof_profile_remove(pprof_profile *profile, const void *value);

/* For pprof_profile_write(): the text form of 2011 and 2016, addresses only. */
#define PPROF_DEBUG_BARE (-1)

/*
 * Writes a snapshot of the profile [Profile.WriteTo].
 *
 *   debug 0                  gzipped profile.proto
 *   debug 1 and above        text, with the function of each address in a comment; of "thread" from
 *                            2 on each stack in full, in the manner of pprof_stack_text(). C++ and
 *                            Rust names are without parameters, template arguments and return types
 *   PPROF_DEBUG_BARE         the text of debug 1 without these comments
 *
 * The program is not stopped; the profile may or may not show what happens meanwhile. Errors:
 * -EINVAL for a NULL profile, a writer without write() or another debug; -ENOTSUP for "peak",
 * "leak", "lifetime" and "memory" as text; -ENOMEM; the writer's first error. "leak" reads all memory, several times if
 * there are other threads: -EBUSY while another thread does so for long, or the error of reading
 * /proc, which "memory" may have, too. Callable from any thread, several at a time; not
 * async-signal-safe.
 */
PPROF_TAKES_STACK PPROF_API int pprof_profile_write(pprof_profile *profile, pprof_writer writer,
                                                    int debug);

/* ---- Rates [runtime MemProfileRate, SetBlockProfileRate, SetMutexProfileFraction] ----------- */

/*
 * Arguments of the three functions that set a rate, beside numbers above 1. All three return the
 * previous rate, so that pprof_set_block_profile_rate(PPROF_RATE_READ) is the present rate of
 * blocking.
 *
 * A negative number reads the rate, and does not turn anything off. Go's SetMutexProfileFraction
 * does the same, and one rule is easier to keep in mind than Go's three (its SetBlockProfileRate
 * turns off at -1 and cannot be read; its MemProfileRate is a variable). So Go's
 * SetBlockProfileRate(-1) is PPROF_RATE_OFF here.
 */
enum {
    PPROF_RATE_READ = -1, /* changes nothing; so does any other negative number */
    PPROF_RATE_OFF = 0,   /* nothing is recorded any more; what was recorded stays */
    PPROF_RATE_ALL = 1    /* every block, every wait, every release */
};

/* ---- Heap [runtime/pprof WriteHeapProfile, runtime MemProfile, MemProfileRate] -------------- */

/* pprof_profile_write() of "heap" as profile.proto. */
PPROF_API int pprof_write_heap_profile(pprof_writer writer);

/*
 * Sets how many bytes are allocated between two samples on the average: 1 samples every block, 0
 * turns sampling off, a negative number changes nothing (PPROF_RATE_*). Returns the previous rate.
 * Each sample remembers its rate, so that profiles stay right when the rate changes. The calling
 * thread uses the new rate at once, another thread after it has allocated 128 KiB more.
 *
 * A program that is linked to libpprof begins with the rate 524288; a program into which libpprof
 * is preloaded begins with 0. If the environment has LIBPPROF, that decides. Thread-safe.
 */
PPROF_API int64_t pprof_set_mem_profile_rate(int64_t bytes);

/* ---- Records [runtime MemProfileRecord, StackRecord] ---------------------------------------- */

/* The most frames of a record; of a deeper stack the frames at the leaf are kept. */
#define PPROF_MAX_STACK 128

/* Return addresses, leaf-most first: each is one past the instruction that it stands for, the
 * allocator's function at the leaf included. Beyond `depth` they are 0. */
typedef struct pprof_stack {
    uint32_t depth;
    uintptr_t pc[PPROF_MAX_STACK];
} pprof_stack;

/*
 * What one place has allocated and freed so far, in blocks of one size (or of one class of sizes,
 * if a place has very many sizes). The numbers are those of the samples themselves, not estimates
 * of what the program did.
 */
typedef struct pprof_mem_record {
    int64_t alloc_bytes, free_bytes;
    int64_t alloc_objects, free_objects;
    pprof_stack stack;
} pprof_mem_record;

/* alloc_bytes - free_bytes, and alloc_objects - free_objects. Async-signal-safe. */
PPROF_API int64_t pprof_mem_record_inuse_bytes(const pprof_mem_record *r);
PPROF_API int64_t pprof_mem_record_inuse_objects(const pprof_mem_record *r);

/*
 * The records of the heap [runtime.MemProfile]. Stores how many there are in *n. If `capacity` is
 * at least that, fills in the first *n of `records`, those with most bytes in use first, and
 * returns true; else changes none and returns false. So call it twice, with some room to spare for
 * places that are new the second time. Where cycles of a collector are counted (below), records are
 * as old as the last one that was published.
 *
 * inuse_zero: also gives places where everything was freed. Returns false, with 0 in *n, also if
 * the kernel refuses memory. Callable from any thread; not async-signal-safe.
 */
PPROF_API bool pprof_mem_profile(pprof_mem_record *records, size_t capacity, size_t *n,
                                 bool inuse_zero);

/* ---- Contention [runtime SetBlockProfileRate, SetMutexProfileFraction] ---------------------- */

/*
 * Sets the rate of the block profile: where threads wait for locks, conditions, semaphores,
 * barriers and other threads. Every wait of at least `nanoseconds` is recorded, a shorter one with
 * the probability wait / rate; it then counts for as many waits as it represents. 1 = every event;
 * 0 = off (the default); a negative number changes nothing, unlike in Go (PPROF_RATE_*). Returns
 * the previous rate, -1 if there is no memory. Thread-safe; not async-signal-safe.
 */
PPROF_API int64_t pprof_set_block_profile_rate(int64_t nanoseconds);

/*
 * Sets the fraction of the mutex profile: the stacks that released a lock for which other threads
 * waited, charged with the time that these waited. One release in `fraction` is recorded, and
 * counts for `fraction` releases. 1 = every release; 0 = off (the default); a negative number
 * changes nothing (PPROF_RATE_*). Returns the previous fraction, -1 if there is no memory.
 * Thread-safe; not async-signal-safe.
 */
PPROF_API int64_t pprof_set_mutex_profile_fraction(int64_t fraction);

/* The unit of the delays in records and texts, per second: 1e9, since they are in nanoseconds.
 * Async-signal-safe. */
PPROF_API int64_t pprof_cycles_per_second(void);

/*
 * What was recorded at one stack, the hooked function first. Block: `count` waits, `cycles` (in
 * units of 1 / pprof_cycles_per_second() seconds) waited, estimates where the rate is above 1.
 * Mutex: `cycles` that others waited for releases made here, and the `count` of waits that these
 * releases ended, at least 1; both scaled up by the fraction.
 */
typedef struct pprof_block_record {
    int64_t count, cycles;
    pprof_stack stack;
} pprof_block_record;

/*
 * The records [runtime.BlockProfile, MutexProfile], those with most cycles first, in the manner of
 * pprof_mem_profile(). Waits that go on are not among them. Callable from any thread; not
 * async-signal-safe.
 */
PPROF_API bool pprof_block_profile(pprof_block_record *records, size_t capacity, size_t *n);
PPROF_API bool pprof_mutex_profile(pprof_block_record *records, size_t capacity, size_t *n);

/* ---- Heaps that libpprof does not hook [runtime/mprof: Malloc, Free, NextCycle, ...] --------- */

/*
 * A custom allocator (a pool, an arena) or a garbage collector reports its objects. They are in the
 * same profiles as malloc's blocks, in records of their own. The memory that it takes from malloc
 * itself is in these profiles as well. Except pprof_set_collector(), these functions are lock-free,
 * allocate nothing from the program, and preserve errno. Any thread may call them, also while other
 * threads are stopped, and inside signal handlers that did not interrupt one of them.
 */

/*
 * The allocator gives out `object` of `size` bytes. The function itself samples, at the rate above,
 * and costs a few instructions when no sample is due. The stack begins at the caller. NULL is
 * ignored. An address must not be given out again before it is freed.
 */
PPROF_TAKES_STACK PPROF_API void pprof_heap_record_alloc(void *object, size_t size);

/* The program frees `object`, or a collector sweeps it. Call this before the object can be given
 * out again. An object that was not sampled, or NULL, is ignored. */
PPROF_TAKES_STACK PPROF_API void pprof_heap_record_free(void *object);
PPROF_TAKES_STACK PPROF_API void pprof_heap_record_sweep(void *object);

/*
 * Cycles of a collector. A collector frees late: if everything were counted at once, objects that
 * are dead but not yet swept would look alive, and a profile would show too much of what was
 * allocated last. So the records are counted by cycles. C is the current one:
 *
 *   allocations and pprof_heap_record_free()   count for cycle C+2
 *   pprof_heap_record_sweep()                  counts for cycle C+1
 *
 * and a profile shows what was published: all cycles up to C. As long as next was never called,
 * every reader publishes everything, also after flush and post_sweep: that is right for allocators
 * that free at once. A later reader does so, too, if nothing has been published at all, so that the
 * first profile is not empty.
 *
 * next        at the end of marking, also while the world is stopped: C becomes C+1. If flush was
 *             not called since the last next, does that first.
 * flush       when the world goes on: publishes cycle C. A reader does it, too, if it comes before.
 * post_sweep  when everything was swept: publishes cycle C+1, which is complete now, without
 *             advancing: what was in use when marking ended is seen at once.
 */
PPROF_TAKES_STACK PPROF_API void pprof_heap_cycle_next(void);
PPROF_API void pprof_heap_cycle_flush(void);
PPROF_API void pprof_heap_cycle_post_sweep(void);

/*
 * Sets the function that runs the collector, NULL for none. The function returns when a collection
 * is over and has reported all of it (sweeps, cycles) [runtime.GC, which Go's programs call before
 * they write a heap profile]. It is called
 *
 *   - by pprof_profile_write() of "heap" and "allocs", in any form, and by
 *     pprof_write_heap_profile(), first of all and on the thread that calls these;
 *   - once by exit() and quick_exit(), if a file of the heap is to be written at the end
 *     (LIBPPROF=heap, -memprofile): in the order of atexit() handlers, as if it had been handed to
 *     atexit() here. So what existed when it was set still exists then. A child of fork() calls it
 *     only if the child has set it again.
 *
 * and by nothing else: not when records are read or counted, not by _exit(), not when SIGTERM or
 * SIGINT ends the process, when the program calls exit() in a signal's handler or puts itself under
 * a seccomp filter, or when the duration is over. A profile that is written then shows the last
 * cycle: a thread that was stopped anywhere may hold every lock that a collector needs, and the
 * collector does not know libpprof's own thread.
 *
 * The collector may allocate, take locks (which a thread that makes one of the calls above must not
 * hold), call any function that is declared here, and set another collector. A profile that it
 * writes itself is written without another collection. It must return: libpprof does not see a jump
 * out of it. libpprof holds no lock meanwhile: threads that write profiles at the same time call it
 * at the same time.
 *
 * In the text of the heap NumForcedGC counts the calls; EnableGC is set if there is a collector, or
 * if cycles are ended. With the option alloctrace each cycle, or each call that ends none, is
 * logged as tracegc. Thread-safe; unlike the functions above it may allocate and is not
 * async-signal-safe.
 */
PPROF_API void pprof_set_collector(void (*collect)(void));

/* ---- Labels [pprof.Do, WithLabels, Labels, SetGoroutineLabels, Label, ForLabels] ------------- */

/*
 * A set of labels, {key: value}, that never changes. While a thread has the set, its samples are
 * marked with these labels, so that a profile can be split by them (go tool pprof -tags,
 * -tagfocus). A new thread has its creator's.
 *
 * A set exists as long as the program, a thread that has it, or a profile that shows it holds a
 * reference to it. Its memory is used again after that. A set is cheap enough to make one for each
 * request. Unless they say otherwise, the functions below are thread-safe and async-signal-safe,
 * and take no lock.
 */
typedef struct pprof_labels pprof_labels;

/*
 * The labels of `parent` (NULL: none) with `pairs` further ones: key_values[0] is a key,
 * key_values[1] its value, and so on. There is one value for a key: the one that comes last, and
 * the parent's only where there is no other. All texts are copied, and should be UTF-8; what is not
 * is replaced when a profile is written. As in Go, a label with an empty value is shown in texts
 * only: profile.proto has no such thing. One whose key the profile uses itself is not shown
 * ("bytes" of the heap's samples, "state" of waits that go on).
 *
 * A set may have as many labels, and as long ones, as fit into memory, up to 1 GiB. Of samples with
 * sets of more than 64 MiB together, some are shown without their labels, and a comment counts
 * them.
 *
 * Returns a set of which the caller holds the one reference. NULL with errno EINVAL: `key_values`
 * or one of the texts is NULL, or a key is empty; ENOMEM.
 */
PPROF_API pprof_labels *pprof_labels_new(const pprof_labels *parent, const char *const *key_values,
                                         size_t pairs);

/* Adds a reference and returns the set; gives a reference back. NULL is ignored. */
PPROF_API pprof_labels *pprof_labels_ref(pprof_labels *labels);
PPROF_API void pprof_labels_unref(pprof_labels *labels);

/*
 * Gives these labels to the calling thread (NULL: none), which keeps a reference to them. Returns
 * the set that the thread had before (or NULL); the caller now holds that set's reference:
 *
 *     pprof_labels *before = pprof_set_thread_labels(mine);
 *     ...
 *     pprof_labels_unref(pprof_set_thread_labels(before));
 *     pprof_labels_unref(before);
 *
 * A signal handler may do so, too, if it restores what it found before it returns.
 */
PPROF_API pprof_labels *pprof_set_thread_labels(pprof_labels *labels);

/* The calling thread's labels, with a reference for the caller; NULL = none. The caller may hand
 * them to another thread together with a piece of work, or use them as a parent. */
PPROF_API pprof_labels *pprof_thread_labels(void);

/* The value of the label `key`, valid as long as the set; NULL if there is none. */
PPROF_API const char *pprof_label(const pprof_labels *labels, const char *key);

/* Calls each(ctx, key, value) for all labels, in the order of their keys, until it
 * returns false. */
PPROF_API void pprof_for_labels(const pprof_labels *labels,
                                bool (*each)(void *ctx, const char *key, const char *value),
                                void *ctx);

/*
 * Calls function(arg) with these labels added to those that the calling thread has, and restores
 * them after that. If the set cannot be made (as of pprof_labels_new), the function is called
 * without any label that has one of these keys, so that nothing is shown for a value that is not
 * its own; the thread's others stay, as far as there is memory.
 *
 * If longjmp(), a C++ exception or pthread_exit() jumps out of the function, the labels are not
 * restored: the thread keeps the labels of the function, and a reference to its former set is lost,
 * until a pprof_do() further up returns, or the program sets its labels itself. Use <pprof.hpp> in
 * C++: its scopes are left in order. Not async-signal-safe.
 */
PPROF_TAKES_STACK PPROF_API void pprof_do(const char *const *key_values, size_t pairs,
                                          void (*function)(void *arg), void *arg);

/* ---- Threads [runtime.GoroutineProfile, ThreadCreateProfile, Stack] ------------------------- */

/* A thread: its id (that of gettid(2)), its labels or NULL, and its stack. Or a task of the program's
 * runtime (<pprof_task.h>), whose id is 0. */
typedef struct pprof_thread_record {
    pid_t tid;
    const pprof_labels *labels;
    pprof_stack stack;
} pprof_thread_record;

/*
 * The threads of the process and their stacks, the calling thread first, in the manner of
 * pprof_mem_profile(); to be given back with pprof_thread_records_release(). Threads that have
 * ended and libpprof's own are not among them.
 *
 * The program is not stopped. A thread that waits in the kernel is looked at from outside, and
 * nothing is sent to it: no call of the program returns early. One that runs says itself where it
 * is, within 50 ms, in a signal handler. A stack whose end is not known ends in
 * pprof_missing_frames and, if that is known, the thread's start routine: where signals cannot
 * reach a thread (docs/SIGNALS.md), where it gets no processor in that time, or where the kernel
 * does not tell (after setuid()). Where no descriptor is left for /proc, or there is no /proc,
 * those threads are listed that were seen when they were created. Callable from any thread, several
 * at a time; not async-signal-safe.
 */
PPROF_TAKES_STACK PPROF_API bool pprof_thread_profile(pprof_thread_record *records, size_t capacity,
                                                      size_t *n);

/* Likewise where each of these threads was created; labels are NULL. Of the first thread the stack
 * is pprof_first_thread, of one that was created past pthread_create() and thrd_create() it is
 * pprof_unseen_creation. */
PPROF_API bool pprof_threadcreate_profile(pprof_thread_record *records, size_t capacity, size_t *n);

/* Releases the references that `n` records hold to their labels. NULL is ignored. */
PPROF_API void pprof_thread_records_release(pprof_thread_record *records, size_t n);

/*
 * The stacks in full as text, of the calling thread or of `all`, the calling one first. Returns how
 * many bytes were stored in `buffer`, at most `capacity`; what does not fit is cut off. A NUL
 * follows if there is room. Other threads are treated as by pprof_thread_profile(). A thread that
 * waits for a lock of pthread has its holder after its state; deadlocks come last.
 */
PPROF_TAKES_STACK PPROF_API size_t pprof_stack_text(char *buffer, size_t capacity, bool all);

/* ---- Stacks [runtime.Callers] -------------------------------------------------------------- */

/*
 * Stores the return addresses of the calling thread's stack in `pcs`, leaf-most first, and returns
 * how many were stored, at most `capacity`. skip 0 starts at the caller of pprof_callers (the
 * address to which pprof_callers returns), 1 at that function's caller, and so on; frames are
 * physical ones (an inlined function is part of its caller). A negative skip counts as 0. Frames of
 * libpprof, of pprof_do() say, are left out, and do not count: as in every stack that it takes.
 * Thread-safe and async-signal-safe; takes no lock and allocates nothing.
 */
PPROF_TAKES_STACK PPROF_API size_t pprof_callers(int skip, uintptr_t *pcs, size_t capacity);

/* ---- Options ------------------------------------------------------------------------------- */

/*
 * Applies a comma-separated list of options, as the environment variable LIBPPROF does at start-up
 * (see docs/OPTIONS.md for the list). Unknown words are reported once on stderr and skipped.
 * `symbolize` holds for every profile that is written from then on, whenever its samples were
 * recorded. Returns 0, or the first error: -EINVAL (unknown word or bad value; the others still
 * apply), -ENOTSUP (known, but not in this version), or what starting a profile returned. Any
 * thread; not async-signal-safe.
 */
PPROF_API int pprof_configure(const char *options);

/*
 * Takes the flags that ask for profiles out of the arguments of main(), as `go test` has them:
 *
 *   -cpuprofile FILE     -memprofile FILE        -blockprofile FILE        -mutexprofile FILE
 *                        -memprofilerate BYTES   -blockprofilerate NS      -mutexprofilefraction N
 *
 * with one or two dashes, and = or a space before the value; up to an argument "--", which stays,
 * with all that follows. The others close ranks, *argc is what is left, argv[*argc] is NULL. To be
 * called before the program looks at its arguments itself.
 *
 * Profiles begin at once, and are written to these files (names without a meaning for %; mode 0600)
 * when the process ends, whichever way. -memprofile is the profile "allocs", with what is in use in
 * it as well; its rate is the present one unless -memprofilerate is above 0. The others' rates are
 * 1, everything; with 0 nothing is recorded from now on, and the file has what was recorded before;
 * below 0 there is no file. Of a flag that is there twice the last one holds; an empty FILE asks
 * for nothing.
 *
 * Returns 0, or the first error, which is also on the log: -EINVAL (no value, no number; that flag
 * is taken out and ignored, the others apply), -EPERM in a setuid program (all are taken out and
 * ignored), -ENAMETOOLONG, or what starting a profile returned, such as -EBUSY. Not
 * async-signal-safe.
 */
PPROF_API int pprof_parse_flags(int *argc, char **argv);

/* ---- Version ------------------------------------------------------------------------------- */

/* major * 10000 + minor * 100 + patch, of the library that is loaded. */
PPROF_API unsigned pprof_version_number(void);
/* The version as text, "0.1.0"; static storage. */
PPROF_API const char *pprof_version_string(void);

/* ---- Calls that are no jumps (PPROF_TAKES_STACK) -------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__) && !defined(PPROF_NO_MACROS) &&                       \
    (!defined(__cplusplus) || __cplusplus >= 201103L)

#define PPROF_AFTER_CALL                                                                           \
    extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __artificial__))

/* The empty assembler statement has no instruction, but comes after the call. */
PPROF_AFTER_CALL void pprof_after_call_(int unused)
{
    (void)unused;
    __asm__ volatile("");
}

PPROF_AFTER_CALL int pprof_after_call_int_(int result)
{
    __asm__ volatile("");
    return result;
}

PPROF_AFTER_CALL bool pprof_after_call_bool_(bool result)
{
    __asm__ volatile("");
    return result;
}

PPROF_AFTER_CALL size_t pprof_after_call_size_(size_t result)
{
    __asm__ volatile("");
    return result;
}

#undef PPROF_AFTER_CALL

#define pprof_profile_add(...)       pprof_after_call_int_(pprof_profile_add(__VA_ARGS__))
#define pprof_profile_write(...)     pprof_after_call_int_(pprof_profile_write(__VA_ARGS__))
#define pprof_thread_profile(...)    pprof_after_call_bool_(pprof_thread_profile(__VA_ARGS__))
#define pprof_stack_text(...)        pprof_after_call_size_(pprof_stack_text(__VA_ARGS__))
#define pprof_callers(...)           pprof_after_call_size_(pprof_callers(__VA_ARGS__))
#define pprof_heap_record_alloc(...) pprof_after_call_((pprof_heap_record_alloc(__VA_ARGS__), 0))
#define pprof_heap_record_free(...)  pprof_after_call_((pprof_heap_record_free(__VA_ARGS__), 0))
#define pprof_heap_record_sweep(...) pprof_after_call_((pprof_heap_record_sweep(__VA_ARGS__), 0))
#define pprof_heap_cycle_next()      pprof_after_call_((pprof_heap_cycle_next(), 0))
#define pprof_do(...)                pprof_after_call_((pprof_do(__VA_ARGS__), 0))

#endif

#ifdef __cplusplus
}
#endif
#endif
