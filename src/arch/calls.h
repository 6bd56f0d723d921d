/* SPDX-License-Identifier: MIT
 *
 * calls.h: chooses the architecture's reader of calls and prologues.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_CALLS_H
#define PP_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* What a function does to its frame from an instruction on (unwind/epilogue.h). Places count from SP
 * there, or from the frame pointer. */
typedef struct pp_epilogue {
    int64_t sp; /* SP now */
    bool on_fp; /* SP and places count from the frame pointer */
    bool sets_fp;
    bool loads_fp, loads_link;
    int64_t fp;             /* if sets_fp: the frame pointer now */
    int64_t fp_at, link_at; /* where they are loaded from */
    int64_t distance;       /* of the last branch or jump */
} pp_epilogue;

typedef enum pp_epilogue_step {
    PP_EPILOGUE_GOES_ON,
    PP_EPILOGUE_BRANCHES, /* perhaps */
    PP_EPILOGUE_JUMPS,
    PP_EPILOGUE_RETURNS,
    PP_EPILOGUE_UNKNOWN /* SP becomes something else */
} pp_epilogue_step;

#if defined(__x86_64__)
#include "arch/x86_64_calls.h"
#elif defined(__aarch64__)
#include "arch/aarch64_calls.h"
#else
#error "libpprof cannot read the calls of this architecture yet: add src/arch/<name>_calls.h"
#endif

#endif
