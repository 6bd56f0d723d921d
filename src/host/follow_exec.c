/* SPDX-License-Identifier: MIT
 *
 * follow_exec.c: composes environments.
 *
 * Zone: NORMAL.
 * Owns: the strings.
 * Tested by: e2e.cpprof_record_exec, e2e.torture_tools
 */
#include "host/follow_exec.h"

#include "base/text.h"
#include "host/preload_list.h"
#include "sys/log.h"

#include <stdlib.h>
#include <string.h>

static const char preload_name[] = "LD_PRELOAD=";
static const char options_name[] = "LIBPPROF=";

enum { MORE_ENTRIES = 3, MORE_OPTIONS_BYTES = 64 };
static const uint64_t ns_per_ms = 1000000;

static struct {
    pp_arena kept;       /* for ever */
    const char *library; /* as LD_PRELOAD named it */
    const char *options;
    bool is_forgotten; /* there was no memory for them */
} state = {.kept = PP_ARENA_INIT};

static bool is_entry(const char *entry, const char *name)
{
    return strncmp(entry, name, strlen(name)) == 0;
}

static void say_no_memory(void)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "out of memory: the program that the process executes is not profiled");
    pp_log(&text);
}

void pp_follow_exec_remember(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *text = getenv("LIBPPROF");
    size_t length = 0;
    const char *word = list != NULL ? pp_preload_list_find(list, &length) : NULL;
    if (word != NULL && text != NULL) {
        state.library = pp_arena_text(&state.kept, word, length);
        state.options = pp_arena_text(&state.kept, text, strlen(text));
        state.is_forgotten = state.library == NULL || state.options == NULL;
    }
}

static char *append(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length + 1);
    return to + length;
}

/* "LD_PRELOAD=" and `list`, with this library in front if the list does not name it. */
static char *compose_preload(const char *list, pp_arena *arena)
{
    size_t length = 0;
    bool in_it = pp_preload_list_find(list, &length) != NULL;
    char *text =
        pp_arena_alloc(arena, sizeof preload_name + strlen(state.library) + strlen(list) + 2);
    if (text != NULL) {
        char *at = append(text, preload_name);
        at = append(at, in_it ? "" : state.library);
        at = append(at, in_it || *list == '\0' ? "" : ":");
        append(at, list);
    }
    return text;
}

/* The options that the program itself has set go first: of two equal words the later one counts. */
static char *compose_options(const char *theirs, uint64_t left_ns, pp_arena *arena)
{
    char digits[PP_DECIMAL_BYTES];
    bool same = strcmp(theirs, state.options) == 0;
    theirs = same ? "" : theirs;
    char *text = pp_arena_alloc(arena, sizeof options_name + strlen(theirs) +
                                           strlen(state.options) + MORE_OPTIONS_BYTES);
    if (text != NULL) {
        char *at = append(text, options_name);
        at = append(at, theirs);
        at = append(at, *theirs != '\0' ? "," : "");
        at = append(at, state.options);
        if (left_ns != 0) {
            at = append(at, ",duration=");
            at = append(at, pp_decimal(left_ns / ns_per_ms + 1, digits));
            append(at, "ms");
        }
    }
    return text;
}

char *const *pp_follow_exec_environment(char *const envp[], uint64_t left_ns, pp_arena *arena)
{
    size_t count = 0;
    size_t kept_entries = 0;
    const char *list = "";
    const char *theirs = "";
    if (state.library == NULL || state.options == NULL) {
        if (state.is_forgotten) {
            say_no_memory();
        }
        return NULL;
    }
    while (envp != NULL && envp[count] != NULL) {
        count++;
    }
    char **result = pp_arena_array(arena, count + MORE_ENTRIES, sizeof *result);
    for (size_t i = 0; result != NULL && i < count; i++) {
        if (is_entry(envp[i], preload_name)) {
            list = envp[i] + sizeof preload_name - 1;
        } else if (is_entry(envp[i], options_name)) {
            theirs = envp[i] + sizeof options_name - 1;
        } else {
            result[kept_entries++] = envp[i];
        }
    }
    char *preload = compose_preload(list, arena);
    char *ours = compose_options(theirs, left_ns, arena);
    if (result == NULL || preload == NULL || ours == NULL) {
        pp_arena_release(arena);
        say_no_memory();
        return NULL;
    }
    result[kept_entries++] = preload;
    result[kept_entries++] = ours;
    return result;
}
