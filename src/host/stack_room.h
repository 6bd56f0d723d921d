/* SPDX-License-Identifier: MIT
 *
 * stack_room.h: runs what needs more stack than the calling thread may have left.
 *
 * A program may end itself on an alternate stack of 8 KiB, on a coroutine's, or where recursion has
 * used up its own. To write a profile takes more: the loader alone needs 3 KiB, and with AVX-512
 * more, when it binds the first call of zlib.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing.
 */
#ifndef PP_HOST_STACK_ROOM_H
#define PP_HOST_STACK_ROOM_H

/*
 * Calls work(argument): on the present stack, if that is known to have room; else on a stack that
 * is mapped for this call, with all signals blocked. (A handler that the program runs on its
 * alternate stack would overwrite the frames that are there.) Without memory for such a stack, the
 * present one has to do.
 */
void pp_with_stack_room(void (*work)(void *argument), void *argument);

#endif
