/* SPDX-License-Identifier: MIT
 *
 * library.c: what libpprof-push.so.0 exports: a table of the functions that libpprof calls.
 *
 * Tested by: e2e.push_option
 */
#include "push/library.h"

#include <stdlib.h>

static push_sender *open_in_process(const push_settings *settings, void (*at_exit)(void),
                                    char why[PUSH_WHY_BYTES])
{
    push_sender *sender = NULL;
    static bool has_handler;
    if (push_open(settings, &sender, why) != 0) {
        return NULL;
    }
    if (!has_handler) {
        has_handler = atexit(at_exit) == 0;
    }
    return sender;
}

/* NOLINTNEXTLINE(readability-identifier-naming): another version has another name */
__attribute__((visibility("default"))) const push_library pprof_push_2 = {
    .open = open_in_process,
    .set_labels = push_resource_init,
    .add = push_add,
    .is_full = push_is_full,
    .pump = push_pump,
    .drain = push_drain,
    .park = push_park,
    .wake = push_wake,
    .close = push_close,
};
