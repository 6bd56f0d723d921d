/* SPDX-License-Identifier: MIT
 *
 * toy_kind.h: what the toy kind of profile counts.
 */
#ifndef TOY_KIND_H
#define TOY_KIND_H

/* Its caller has one more in the profile "toy". */
void toy_play(void);

#endif
