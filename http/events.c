/* SPDX-License-Identifier: MIT
 *
 * events.c: see events.h.
 *
 * Owns: the list of services.
 * Tested by: e2e.http_guest, e2e.control
 */
#include "events.h"

#include "page_data.h"

#include <pprof_http.h>
#include <pprof_http_door.h>

#include <stddef.h>

enum { SERVICES = 2 };

static service *services[SERVICES]; /* NULL: none is watched there */

static service *service_at(int i)
{
    return __atomic_load_n(&services[i], __ATOMIC_ACQUIRE);
}

static bool has_descriptor(int fd)
{
    bool has = false;
    for (int i = 0; i < SERVICES && !has; i++) {
        has = service_at(i) != NULL && service_has(service_at(i), fd);
    }
    return has;
}

static void after_fork_in_child(void)
{
    for (int i = 0; i < SERVICES; i++) {
        if (service_at(i) != NULL) {
            service_forget(service_at(i));
        }
    }
}

static void before_confinement(void)
{
    for (int i = 0; i < SERVICES; i++) {
        if (service_at(i) != NULL) {
            service_stop(service_at(i));
        }
    }
}

static void before_exec(void)
{
    for (int i = 0; i < SERVICES; i++) {
        if (service_at(i) != NULL && service_at(i)->ends_at_exec) {
            service_remove_file(service_at(i));
        }
    }
}

static void at_end(void)
{
    for (int i = 0; i < SERVICES; i++) {
        if (service_at(i) != NULL) {
            service_remove_file(service_at(i));
        }
    }
}

static const pprof_http_events events = {.after_fork_in_child = after_fork_in_child,
                                         .before_confinement = before_confinement,
                                         .has_descriptor = has_descriptor,
                                         .http_address = pprof_http_address,
                                         .before_exec = before_exec,
                                         .at_end = at_end};

void events_watch(service *s)
{
    int i = 0;
    service *expected = NULL;
    while (i < SERVICES && service_at(i) != s &&
           !__atomic_compare_exchange_n(&services[i], &expected, s, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        expected = NULL;
        i++;
    }
    pprof_http_door_4.listen(&events);
    pprof_http_door_4.set_page(http_page_data, http_page_size);
}
