/* SPDX-License-Identifier: MIT
 *
 * pseudo_frame.c: the pseudo-frame that several kinds show.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.sigprof, e2e.alternate_stacks
 */
#include "base/pseudo_frame.h"

PP_PSEUDO_FRAME(pprof_lost_samples)
