/* SPDX-License-Identifier: MIT
 *
 * pprof_dwarf.h: the interface of libpprof-dwarf.so, which finds files, lines and inlined functions
 * in debug information, for libpprof and for cpprof. Not for programs, and not installed.
 *
 *   host        dlopen("libpprof-dwarf.so"), dlsym("pprof_dwarf"), looks at .version
 *               .find_lines(module, addresses) for each module of a profile
 *   plugin      opens files through the host's functions, calls found() for each address that it
 *               knows
 *
 * The plugin keeps nothing between two calls, and starts no thread. Several threads may call at a
 * time.
 */
#ifndef PPROF_DWARF_H
#define PPROF_DWARF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both sides must have the same version, which changes with everything below. */
#define PPROF_DWARF_VERSION 5

/* A loaded file. */
typedef struct pprof_dwarf_module {
    const char *path; /* the file, absolute; separate debug files are looked for by it, too */
    /* The file's present place, if that is another one ("/proc/self/exe"); NULL: `path`. */
    const char *opened_path;
    const uint8_t *build_id;
    size_t build_id_size; /* 0: it has none. A file whose build id is another one is not used. */
    int any_build;        /* nobody knows the build id: the file at `path` is used as it is */
    /* Run-time address minus the address in the file. It is not used if `limit` is not 0: then the
     * file was mapped to [start, limit) from `offset` on, and its segments give the bias. */
    uint64_t bias;
    uint64_t start, limit, offset;
} pprof_dwarf_module;

/* A function, and a place in its source. */
typedef struct pprof_dwarf_function {
    const char *name; /* its linkage name, or its name if it has none; NULL = unknown */
    const char *file;
    uint32_t line;       /* 0: no line of the source */
    uint32_t start_line; /* where it is declared in that file; 0: in another one, or unknown */
    /* Which part of the line: DWARF's number, in the compiler's own encoding. Of an outer function: that of
     * the call that was inlined. */
    uint32_t discriminator;
} pprof_dwarf_function;

/* What debug information says about an address. All memory is the plugin's, and valid during the
 * call. */
typedef struct pprof_dwarf_place {
    size_t index;                          /* of the address, in the caller's array */
    const pprof_dwarf_function *functions; /* innermost first; all but the last were inlined */
    size_t count;                          /* at least 1 */
    /* Run-time address where the last function begins, or the part of it that has the address;
     * 0 = unknown. */
    uint64_t entry;
    uint64_t limit; /* where it ends, by its symbol; 0 = unknown. For a host that wants names. */
    uint64_t bias;  /* run-time address minus the address in the file */
    int may_lack_inlined; /* a file that was not read (.dwo) describes inlined functions */
} pprof_dwarf_place;

/* Functions of the caller for the plugin. */
typedef struct pprof_dwarf_host {
    void *context;
    int (*open)(void *context, const char *path); /* to read: a descriptor or -errno */
    void (*close)(void *context, int fd);
    void (*found)(void *context, const pprof_dwarf_place *place);
    /* Gets a file with the debug information of a build id that no file here has: a descriptor or
     * -errno. NULL: there is no such way. */
    int (*fetch)(void *context, const uint8_t *build_id, size_t build_id_size);
    uint64_t most_bytes; /* of debug information that is read into memory; 0: 1 GiB */
    /* Calls found() also for addresses that only a symbol table names. Such a place has one
     * function, without a file. */
    int wants_names;
    /* Calls found() only with what .symtab and .gnu_debugdata say. Neither .dynsym nor debug
     * information is read, and fetch() is not called. */
    int names_only;
} pprof_dwarf_host;

typedef struct pprof_dwarf_interface {
    uint32_t version; /* first in every version */
    /*
     * Calls host->found() for each of `count` ascending run-time addresses of instructions of the
     * module whose line is known, in any order. 0, also if none is; -ENOENT if there is no debug
     * information of that build; -ENOLINK if there is none, and the file that .gnu_debuglink names has
     * that of another build; -ESTALE if there is none and the file is of another build; -EFBIG
     * if there is more of it than is read into a running program; -ENOMEM, maybe after some were
     * found; or what opening or reading the file returned.
     */
    int (*find_lines)(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                      const pprof_dwarf_host *host);
} pprof_dwarf_interface;

/* The one symbol that the plugin exports. */
extern const pprof_dwarf_interface pprof_dwarf;

#ifdef __cplusplus
}
#endif

#endif
