/* SPDX-License-Identifier: MIT
 *
 * reason.h: why a walk ends where it does.
 *
 * Each step of a walk has one of these results. The hot loop (walk.c) knows only the first two; the
 * others are found where a step by a rule of the cache has failed (frame.c), or where the rule was
 * computed (cfi.c), and are kept in the cache with "no rule". `cpprof dump --explain` and the
 * comments of a profile show them in words (stops.h).
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_UNWIND_REASON_H
#define PP_UNWIND_REASON_H

/* At most 31: the rule cache has five bits for them. */
typedef enum pp_reason {
    PP_GO_ON, /* of a step: there is a caller; of a walk: the buffer is full */
    PP_ENDS,  /* the outermost frame: no caller is lacking */

    /* The caller cannot be found: the frame has no rule, and no frame pointer leads on. */
    PP_NO_CODE,         /* the address points to no memory */
    PP_NO_MODULE,       /* code that is in no module: generated, or mapped by hand */
    PP_MODULE_UNLOADED, /* the module was unloaded during the walk */
    PP_NO_TABLES,       /* the module has neither .eh_frame_hdr nor .eh_frame */
    PP_NO_INDEX,        /* .eh_frame has no table, and to search it would take too long */
    PP_BAD_INDEX,       /* the table of .eh_frame_hdr cannot be read */
    PP_NOT_COVERED,     /* no FDE covers the address */
    PP_BAD_ENTRY,       /* the FDE or its CIE is cut, or of an unknown form */
    PP_BAD_PROGRAM,    /* the CFA program is cut, has an unknown instruction, or nests too deeply */
    PP_CFA_EXPRESSION, /* the CFA is an expression that no rule can hold */
    PP_RETURN_EXPRESSION, /* likewise for the return address */
    PP_SP_EXPRESSION,     /* likewise for the caller's stack pointer */
    PP_CFA_REGISTER,      /* the CFA counts from a register that is not known in this frame */
    PP_RETURN_REGISTER,   /* the return address is in or on such a register */

    /* The stack is not what the rule says it is. */
    PP_CFA_UNREADABLE,          /* the word that the CFA is computed from */
    PP_RETURN_UNREADABLE,       /* the return address */
    PP_SAVED_UNREADABLE,        /* a saved register */
    PP_SIGNAL_FRAME_UNREADABLE, /* the registers that a signal handler returns to */
    PP_NOT_ABOVE,               /* the caller's frame would not be above this one */
    PP_REASON_COUNT
} pp_reason;

/* The four kinds of ends that the first comment of a profile counts. */
typedef enum pp_stop {
    PP_STOP_END,       /* the outermost frame: _start, clone, or a return address of 0 */
    PP_STOP_TRUNCATED, /* more frames than the buffer holds */
    PP_STOP_NO_RULE,   /* code without call-frame information, and no frame pointer to follow */
    PP_STOP_BAD_READ,  /* the stack is not what the rules say it is */
    PP_STOP_COUNT
} pp_stop;

static inline pp_stop pp_stop_of(pp_reason why)
{
    switch (why) {
    case PP_GO_ON:
        return PP_STOP_TRUNCATED;
    case PP_ENDS:
        return PP_STOP_END;
    default:
        return why < PP_CFA_UNREADABLE ? PP_STOP_NO_RULE : PP_STOP_BAD_READ;
    }
}

#endif
