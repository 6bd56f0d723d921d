/* SPDX-License-Identifier: MIT
 *
 * names.h: the names of profiles and labels, as the servers and their own agents write them.
 */
#ifndef PUSH_NAMES_H
#define PUSH_NAMES_H

#include "push/push.h"

#include <stddef.h>

enum { PUSH_NAME_BYTES = 256 };

/* Of Pyroscope and Parca: "process_cpu" for "cpu". A kind that they do not know keeps its name, in the
 * letters that Prometheus allows. */
void push_name_of_kind(const char *kind, char to[PUSH_NAME_BYTES]);

/* The label's name in the letters that Prometheus allows: "service_name" for "service.name". */
void push_name_of_label(const char *name, char to[PUSH_NAME_BYTES]);

/* Whether an earlier label of the profile gets the same name. */
bool push_name_is_taken(const push_profile *profile, size_t index);

/* The value of a label; `otherwise` if there is none. */
const char *push_label_value(const push_profile *profile, const char *name, const char *otherwise);

#endif
