/* SPDX-License-Identifier: MIT
 *
 * thread_label.h: the label `thread`, a thread's name, while somebody wants it: in samples of what runs,
 * and of what waits.
 *
 * A set of labels cannot change, so a sample gets a set of its own, which the table of cells compares
 * by its texts (store/label_cells.h). A label `thread` of the program's own stays as it is.
 *
 * Zone: SIGNAL.
 * Owns: the number of those who want it.
 */
#ifndef PP_KINDS_CPU_THREAD_LABEL_H
#define PP_KINDS_CPU_THREAD_LABEL_H

#include "store/labels.h"

#include <stdbool.h>

/* One more wants the label, or one less. */
void pp_thread_label_want(void);
void pp_thread_label_unwant(void);

/* From now on nobody gets the label: the program confines itself, or is the child of fork. */
void pp_thread_label_end(void);

bool pp_thread_label_is_wanted(void);

/* Stores the calling thread's name, of PP_TASK_NAME_BYTES; "": it is not wanted. */
void pp_thread_label_own_name(char *name);

/* Returns `labels` with the name, or as they are if the name is "" or there is no memory. The caller
 * gets a reference. */
pprof_labels *pp_thread_label_add(pprof_labels *labels, const char *name);

/* Returns the labels of the calling thread, with its name if that is wanted. The caller gets a
 * reference. */
pprof_labels *pp_thread_label_take(void);

#endif
