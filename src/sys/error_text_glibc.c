/* SPDX-License-Identifier: MIT
 *
 * error_text_glibc.c: reads the texts where glibc has them: strerrordesc_np since 2.32, _sys_errlist for
 * older programs. strerror looks for a translation, under locks.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.options
 */
#include "sys/error_text.h"

#include <stddef.h>
#include <string.h>

enum { OLD_TEXTS = 123 }; /* the length of the first _sys_errlist */

typedef struct list {
    const char *text[OLD_TEXTS];
} list;

extern const char *new_text(int error) __asm__("strerrordesc_np") __attribute__((weak));
extern const list old_list __asm__("_sys_errlist") __attribute__((weak));

const char *pp_error_text(int error)
{
    const char *text = NULL;
    int number = error < 0 ? -error : error;
    if (new_text != NULL) {
        text = new_text(number);
    } else if (&old_list != NULL && number < OLD_TEXTS) {
        text = old_list.text[number];
    }
    return text != NULL ? text : "unknown error";
}
