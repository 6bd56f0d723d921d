/* SPDX-License-Identifier: MIT
 *
 * events.h: what happens to the process, and what becomes of its services then.
 */
#ifndef PP_HTTP_EVENTS_H
#define PP_HTTP_EVENTS_H

#include "service.h"

/* Makes the service follow the process from now on; and gives libpprof the page. May be called
 * again. */
void events_watch(service *s);

#endif
