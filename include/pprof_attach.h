/* SPDX-License-Identifier: MIT
 *
 * pprof_attach.h: what cpprof reads in the memory of a process to which it attaches
 * (docs/ATTACH.md). Not for programs, and not installed.
 *
 *   cpprof --dlopen(".../libpprof-attach.so") or pprof_configure("attach")--> the library, on its own
 *   cpprof <------------------process_vm_readv---------- pprof_attach_state   thread
 */
#ifndef PPROF_ATTACH_H
#define PPROF_ATTACH_H

#include <pprof.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PPROF_ATTACH_VERSION 1

/*
 *   NONE --(attach)--> STARTING --> READY --(detach)--> DETACHING --> DETACHED --(attach)--> STARTING
 *                          \--> FAILED --(attach)--> STARTING
 *
 * The child of fork begins with NONE.
 */
enum pprof_attach_phase {
    PPROF_ATTACH_NONE,
    PPROF_ATTACH_STARTING,
    PPROF_ATTACH_READY, /* the control socket answers */
    PPROF_ATTACH_FAILED,
    PPROF_ATTACH_DETACHING,
    PPROF_ATTACH_DETACHED
};

typedef struct pprof_attach_status {
    uint32_t version;    /* PPROF_ATTACH_VERSION; first in every version */
    uint32_t state;      /* a pprof_attach_phase; written after the members below */
    int32_t error;       /* -errno, if the state is FAILED */
    uint32_t generation; /* how often an attachment has begun */
    char text[256];      /* why it failed, and what to do; or what it could not do; or "" */
} pprof_attach_status;

extern PPROF_API pprof_attach_status pprof_attach_state;

#ifdef __cplusplus
}
#endif
#endif
