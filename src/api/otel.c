/* SPDX-License-Identifier: MIT
 *
 * otel.c: see otel.h. The resource is that of OpenTelemetry's variables [Resource SDK, "Specifying
 * resource information via an environment variable"].
 *
 *   the option service=NAME                           service.name, before any other
 *   OTEL_SERVICE_NAME=shop                            the same, before those that follow
 *   OTEL_RESOURCE_ATTRIBUTES=key=value,key=value      values have %20 and the like
 *   defaults                                          service.name, service.instance.id
 *
 * Zone: NORMAL.
 * Owns: what was asked for.
 * Tested by: e2e.otel
 */
#include "api/otel.h"

#include "arch/system_call.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "modules/maps.h"
#include "output/prepare.h"
#include "store/context_keys.h"
#include "store/labels.h"
#include "store/process_context.h"
#include "store/thread_context.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/path_template.h"
#include "sys/sandbox.h"
#include "web/push_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static struct {
    bool process, threads; /* are asked for */
    bool before;           /* was published before cpprof came */
} state;

static int complain(const char *why, int error)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "otel: ");
    pp_text_add(&text, why);
    pp_log(&text);
    return error;
}

/* ---- the resource ---- */

static pp_context_text text_of(const char *text)
{
    return (pp_context_text){text, strlen(text)};
}

static void add(pp_context_text key, pp_context_text value)
{
    if (!pp_process_context_add(key, value)) {
        complain("an attribute is left out: together they have more than 8 KiB", 0);
    }
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)((at - digits) % 16) : -1;
}

/* Replaces %20 and the like in place. False if a % has not two digits after it. */
static bool decode(pp_context_text *text, char *to)
{
    size_t length = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = text->data[i];
        if (c == '%') {
            int high = i + 2 < text->length ? digit_of(text->data[i + 1]) : -1;
            int low = high >= 0 ? digit_of(text->data[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        to[length++] = c;
    }
    *text = (pp_context_text){to, length};
    return true;
}

static pp_context_text trimmed(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t')) {
        begin++;
    }
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    return (pp_context_text){begin, (size_t)(end - begin)};
}

/* Takes the last pair of text[0, *length) off it. False if it is none. */
static bool take_last_pair(char *text, size_t *length, pp_context_text *key, pp_context_text *value)
{
    size_t begin = *length;
    while (begin > 0 && text[begin - 1] != ',') {
        begin--;
    }
    char *end = text + *length;
    char *middle = memchr(text + begin, '=', *length - begin);
    *length = begin > 0 ? begin - 1 : 0;
    *key = trimmed(text + begin, middle != NULL ? middle : end);
    *value = middle != NULL ? trimmed(middle + 1, end) : (pp_context_text){end, 0};
    if (middle == NULL) {
        return key->length == 0; /* nothing between two commas */
    }
    return key->length > 0 && decode(key, (char *)(uintptr_t)key->data) &&
           decode(value, (char *)(uintptr_t)value->data);
}

/* Of two pairs with the same key the last one counts, so the list is read from its end. As the
 * specification has it, a list with an error is no list. */
static void add_list(pp_arena *arena, const char *list)
{
    enum { READ, ADD, PASSES };
    size_t whole = strlen(list);
    for (int pass = READ; pass < PASSES; pass++) {
        char *text = pp_arena_text(arena, list, whole);
        size_t length = text != NULL ? whole : 0;
        while (length > 0) {
            pp_context_text key;
            pp_context_text value;
            if (!take_last_pair(text, &length, &key, &value)) {
                complain("OTEL_RESOURCE_ATTRIBUTES is ignored: write key=value,key=value, with %2C "
                         "for a comma",
                         0);
                return;
            }
            if (pass == ADD && key.length > 0) {
                add(key, value);
            }
        }
    }
}

/* A random UUID (RFC 9562, version 4). */
static void add_instance(void)
{
    enum { BYTES = 16, TEXT = 36 };
    static const char digits[] = "0123456789abcdef";
    uint64_t number[2];
    char text[TEXT];
    size_t length = 0;
    if (pp_system_call(SYS_getrandom, number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        uint64_t seed = pp_clock_ns(CLOCK_REALTIME) ^ (uint64_t)pp_system_call(SYS_getpid) << 48;
        number[0] = pp_random_next(&seed);
        number[1] = pp_random_next(&seed);
    }
    uint8_t byte[BYTES];
    memcpy(byte, number, sizeof byte);
    byte[6] = (uint8_t)((byte[6] & 0x0f) | 0x40);
    byte[8] = (uint8_t)((byte[8] & 0x3f) | 0x80);
    for (unsigned i = 0; i < BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text[length++] = '-';
        }
        text[length++] = digits[byte[i] >> 4];
        text[length++] = digits[byte[i] & 0x0f];
    }
    add(text_of("service.instance.id"), (pp_context_text){text, length});
}

static void add_program(void)
{
    char name[256];
    pp_path path = pp_path_begin(name, sizeof name);
    pp_path_add_placeholder(&path, 'e', &(pp_path_values){.kind = ""});
    add(text_of("service.name"), (pp_context_text){name, path.length});
}

/* The first one of each key counts. The name is the one under which `push` sends profiles. */
static void add_resource(pp_arena *arena)
{
    const char *service = pp_push_option_word(PP_PUSH_SERVICE);
    const char *name = secure_getenv("OTEL_SERVICE_NAME");
    const char *list = secure_getenv("OTEL_RESOURCE_ATTRIBUTES");
    if (service != NULL) {
        add(text_of("service.name"), text_of(service));
    }
    if (name != NULL && *name != '\0') {
        add(text_of("service.name"), text_of(name));
    }
    if (list != NULL) {
        add_list(arena, list);
    }
    add_program();
    add_instance();
}

/* ---- start and end ---- */

/* A process has one context at most. */
static bool is_published_by_another(pp_arena *arena)
{
    char *text = NULL;
    size_t length = 0;
    pp_map_line line;
    static const char *const names[] = {"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
                                        "/memfd:OTEL_CTX"};
    if (pp_maps_text(arena, &text, &length) != 0) {
        return false;
    }
    while (pp_maps_next(&text, &line)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strncmp(line.path, names[i], strlen(names[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int prepare(pp_arena *arena)
{
    if (!pp_sandbox_permits_context()) {
        return complain("nothing is published: a seccomp filter kills for it", -EPERM);
    }
    if (is_published_by_another(arena)) {
        return complain("nothing is published: the process has a context of another library",
                        -EEXIST);
    }
    pp_prepare_walks(); /* an update reads its own memory as they do */
    int error = pp_process_context_begin();
    if (error != 0) {
        return complain("nothing is published: no reader could find it, since the kernel refuses "
                        "memfd_create and names of mappings",
                        error);
    }
    add_resource(arena);
    return 0;
}

static int publish(void)
{
    pp_arena arena = PP_ARENA_INIT;
    bool is_new = !pp_process_context_is_published();
    int error = is_new ? prepare(&arena) : 0;
    pp_arena_release(&arena);
    bool shows_threads = state.threads && !pp_thread_context_is_on;
    if (error == 0 && shows_threads) {
        pp_thread_context_begin();
        pp_labels_show(pp_labels_current(), NULL);
    }
    if (error == 0 && (is_new || shows_threads)) {
        pp_process_context_publish(pp_thread_context_is_on);
    }
    return error;
}

int pp_otel_take(const char *value)
{
    if (value != NULL && strcmp(value, "process") != 0 && strcmp(value, "thread") != 0) {
        return -EINVAL;
    }
    state.process = true;
    state.threads |= value == NULL || strcmp(value, "thread") == 0;
    return 0;
}

int pp_otel_start(void)
{
    int error = state.process ? publish() : 0;
    state.process = state.process && error == 0;
    return error;
}

void pp_otel_after_fork_in_child(bool goes_on)
{
    bool was_published = pp_process_context_is_published();
    pp_process_context_after_fork_in_child();
    pp_thread_context_after_fork_in_child();
    state.process = state.process && goes_on;
    if (was_published) {
        pp_otel_start();
    }
}

void pp_otel_before_confinement(void)
{
    pp_context_keys_close();
}

void pp_otel_attached_begin(void)
{
    state.before = pp_process_context_is_published();
}

void pp_otel_attached_end(void)
{
    if (!state.before) {
        pp_process_context_withdraw();
        state.process = state.threads = false;
    }
}
