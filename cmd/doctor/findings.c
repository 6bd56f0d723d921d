/* SPDX-License-Identifier: MIT
 *
 * findings.c: see findings.h.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "doctor/findings.h"

#include "base/json.h"
#include "base/printable.h"
#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *name;
    cp_paint paint;
} states[] = {
    [CP_WORKS] = {"ok", "works", CP_PAINT_LESS},
    [CP_LIMITED] = {"less", "limited", CP_PAINT_HEADING},
    [CP_FAILS] = {"NO", "fails", CP_PAINT_MUCH},
};

void cp_findings_init(cp_findings *findings)
{
    memset(findings, 0, sizeof *findings);
    cp_pool_init(&findings->pool);
}

void cp_findings_release(cp_findings *findings)
{
    cp_pool_release(&findings->pool);
}

/* Findings quote names of files and processes. */
static char *text_of(cp_pool *pool, const char *quoted)
{
    char *printable = cp_printable(quoted, strlen(quoted));
    char *copy = cp_pool_copy(pool, printable, strlen(printable));

    free(printable);
    return copy;
}

void cp_findings_about(cp_findings *findings, const char *subject)
{
    findings->subject = text_of(&findings->pool, subject);
}

/* ---- finding ---- */

static char *format_text(cp_pool *pool, const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    return text_of(pool, text);
}

static cp_finding *add(cp_findings *f, cp_finding_state state, const char *topic)
{
    f->list = cp_pool_grow(&f->pool, f->list, f->count, &f->room, sizeof *f->list);
    cp_finding *finding = &f->list[f->count++];
    *finding = (cp_finding){.state = state, .subject = f->subject, .topic = topic};
    return finding;
}

void cp_found(cp_findings *findings, const char *topic, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const char *text = format_text(&findings->pool, format, arguments);
    va_end(arguments);
    add(findings, CP_WORKS, topic)->text = text;
}

void cp_found_less(cp_findings *findings, cp_finding_state state, const char *kinds,
                   const char *topic, const char *remedy, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const char *text = format_text(&findings->pool, format, arguments);
    va_end(arguments);
    cp_finding *finding = add(findings, state, topic);
    finding->text = text;
    finding->kinds = kinds;
    finding->remedy = remedy ? text_of(&findings->pool, remedy) : NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) {
            return true;
        }
    }
    return false;
}

bool cp_findings_prevent(const cp_findings *findings, const char *kind)
{
    for (size_t i = 0; i < findings->count; i++) {
        const cp_finding *f = &findings->list[i];
        if (f->state == CP_FAILS && (!f->kinds || has_word(f->kinds, kind))) {
            return true;
        }
    }
    return false;
}

/* ---- saying ---- */

void cp_findings_print(const cp_findings *findings, bool colored, FILE *out)
{
    const char *subject = NULL;

    for (size_t i = 0; i < findings->count; i++) {
        const cp_finding *f = &findings->list[i];
        cp_paint paint = states[f->state].paint;
        if (f->subject != subject) {
            fprintf(out, "%s%s%s%s\n", subject ? "\n" : "",
                    cp_paint_begin(CP_PAINT_HEADING, colored), f->subject,
                    cp_paint_end(CP_PAINT_HEADING, colored));
            subject = f->subject;
        }
        fprintf(out, "  %s%-5s%s %-12s %s\n", cp_paint_begin(paint, colored), states[f->state].word,
                cp_paint_end(paint, colored), f->topic, f->text);
        if (f->remedy) {
            fprintf(out, "        %-12s -> %s\n", "", f->remedy);
        }
    }
}

void cp_findings_print_json(const cp_findings *findings, FILE *out)
{
    cp_json json = {.out = out};

    cp_json_open(&json, NULL, '{');
    cp_json_open(&json, "findings", '[');
    for (size_t i = 0; i < findings->count; i++) {
        const cp_finding *f = &findings->list[i];
        cp_json_open(&json, NULL, '{');
        cp_json_text(&json, "state", states[f->state].name);
        cp_json_text(&json, "subject", f->subject);
        cp_json_text(&json, "topic", f->topic);
        cp_json_text(&json, "text", f->text);
        if (f->remedy) {
            cp_json_text(&json, "remedy", f->remedy);
        }
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    cp_json_close(&json, '}');
    fputc('\n', out);
}
