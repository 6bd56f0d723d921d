/* SPDX-License-Identifier: MIT
 *
 * http_index.c: a row for each profile: its count, links to its forms, whether it records, and how
 * to turn it on. The first two columns are as in Go, for those who read them by a program.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract
 */
#include "web/http_paths.h"

#include "encode/text_stream.h"
#include "host/kind.h"
#include "sys/path_template.h"
#include "sys/tasks.h"

#include <errno.h>
#include <string.h>

static const char head[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>/debug/pprof/</title>\n"
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:1.5rem auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "td{padding:.3rem .8rem .3rem 0;vertical-align:top;border-top:1px solid #8884}\n"
    "td:first-child{text-align:right;font-variant-numeric:tabular-nums}\n"
    "thead td{border:0;font-weight:600}\n"
    "p{margin:0;opacity:.75}\n"
    "h1+p,table+p{margin:.8rem 0}\n"
    "@media(min-width:45rem){td:nth-child(n+3){white-space:nowrap}}\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<h1>/debug/pprof/</h1>\n";

static const char table_head[] =
    "<table>\n"
    "<thead><tr><td>Count</td><td>Profile</td><td>As</td><td>Records</td></tr></thead>\n";

/* ---- texts ---- */

static void add_html(pp_text_stream *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            pp_text_stream_add(out, "&lt;");
            break;
        case '&':
            pp_text_stream_add(out, "&amp;");
            break;
        case '\'':
            pp_text_stream_add(out, "&#39;");
            break;
        case '"':
            pp_text_stream_add(out, "&#34;");
            break;
        default:
            pp_text_stream_bytes(out, text, 1);
        }
    }
}

/* As a part of a link: everything but what no reader can mistake is encoded. */
static void add_encoded(pp_text_stream *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    static const char digits[] = "0123456789ABCDEF";
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        const char escape[] = {'%', digits[byte >> 4], digits[byte & 15]};
        bool is_plain = strchr(plain, *text) != NULL;
        pp_text_stream_bytes(out, is_plain ? text : escape, is_plain ? 1 : sizeof escape);
    }
}

/* "<a href='./BEFOREname AFTER'>text</a>"; "./" keeps a name with a colon from being a scheme. */
static void add_link(pp_text_stream *out, const char *before, const char *name, const char *after,
                     const char *text)
{
    pp_text_stream_add(out, "<a href='./");
    pp_text_stream_add(out, before);
    add_encoded(out, name);
    pp_text_stream_add(out, after);
    pp_text_stream_add(out, "'>");
    add_html(out, text);
    pp_text_stream_add(out, "</a>");
}

static void add_about(pp_text_stream *out, const char *about)
{
    if (about != NULL) {
        pp_text_stream_add(out, "<p>");
        add_html(out, about);
        pp_text_stream_add(out, "</p>");
    }
}

/* ---- rows ---- */

static void add_rate(pp_text_stream *out, const pprof_profile *profile)
{
    int64_t rate = profile->set_rate != NULL ? profile->set_rate(PPROF_RATE_READ) : 1;
    if (profile->set_rate == NULL) {
        pp_text_stream_add(out, "always");
    } else if (rate > 0) {
        pp_text_stream_add(out, "at the rate ");
        pp_text_stream_number(out, rate);
    } else {
        pp_text_stream_add(out, "off: ");
        add_link(out, "", profile->name, "?seconds=10&amp;rate=1", "all of 10 s");
        pp_text_stream_add(out, ", or LIBPPROF=");
        add_html(out, profile->word != NULL ? profile->word : profile->name);
    }
}

static void add_profile(pp_text_stream *out, pprof_profile *profile)
{
    const char *name = profile->name;
    pp_text_stream_add(out, "<tr><td>");
    pp_text_stream_unsigned(out, pprof_profile_count(profile));
    pp_text_stream_add(out, "</td><td>");
    add_link(out, "", name, "?debug=1", name);
    add_about(out, profile->about);
    pp_text_stream_add(out, "</td><td>");
    add_link(out, "", name, "", "file");
    pp_text_stream_add(out, " ");
    add_link(out, "flame?profile=", name, "", "graph");
    if (profile->build != NULL && profile->set_rate != NULL) {
        pp_text_stream_add(out, " ");
        add_link(out, "flame?profile=", name, "&amp;seconds=10", "10 s");
    }
    pp_text_stream_add(out, "</td><td>");
    add_rate(out, profile);
    pp_text_stream_add(out, "</td></tr>\n");
}

static void add_profiles(pp_text_stream *out, pprof_profile **list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_profile(out, list[i]);
    }
}

static void add_timed(pp_text_stream *out)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_timed_profile *timed = pp_kinds[i]->timed;
        if (timed == NULL) {
            continue;
        }
        pp_text_stream_add(out, "<tr><td></td><td>");
        add_link(out, "", timed->name, "?seconds=30", timed->name);
        add_about(out, timed->about);
        pp_text_stream_add(out, "</td><td>");
        add_link(out, "", timed->name, "?seconds=10", "file of 10 s");
        pp_text_stream_add(out, " ");
        add_link(out, "flame?profile=", timed->name, "&amp;seconds=10", "graph of 10 s");
        pp_text_stream_add(out, "</td><td>while asked for</td></tr>\n");
    }
}

static void add_texts(pp_text_stream *out, pprof_profile **list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->full != NULL) {
            add_link(out, "", list[i]->name, "?debug=2", list[i]->full);
            pp_text_stream_add(out, ", ");
        }
    }
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (pp_kinds[i]->text != NULL) {
            add_link(out, "", pp_kinds[i]->text->name, "", pp_kinds[i]->text->about);
            pp_text_stream_add(out, ", ");
        }
    }
}

/* ", NAME": not the title that servers give themselves. */
static void add_program(pp_text_stream *out)
{
    enum { NAME_MAX_BYTES = 128 };
    char name[NAME_MAX_BYTES];
    pp_path path = pp_path_begin(name, sizeof name);
    pp_path_add_placeholder(&path, 'e', &(pp_path_values){.kind = ""});
    pp_text_stream_add(out, ", ");
    add_html(out, name);
}

static int write_index(pprof_http_answer *answer, pprof_writer writer)
{
    pp_text_stream out;
    size_t count = pprof_profiles(NULL, 0);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    pprof_profile **list = pp_arena_array(&answer->arena, count, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    size_t there = pprof_profiles(list, count);
    count = there < count ? there : count;
    pp_text_stream_init(&out, writer);
    pp_text_stream_add(&out, head);
    pp_text_stream_add(&out, "<p>Process ");
    pp_text_stream_number(&out, pp_task_process());
    add_program(&out);
    pp_text_stream_add(&out, ", libpprof ");
    pp_text_stream_add(&out, pprof_version_string());
    pp_text_stream_add(&out, ".</p>\n");
    pp_text_stream_add(&out, table_head);
    add_profiles(&out, list, count);
    add_timed(&out);
    pp_text_stream_add(&out, "</table>\n<p>");
    add_texts(&out, list, count);
    add_link(&out, "", "cmdline", "", "command line");
    pp_text_stream_add(&out, "</p>\n</body>\n</html>\n");
    return pp_text_stream_finish(&out);
}

void pp_http_index(pprof_http_answer *answer)
{
    pp_http_succeed(answer, PP_HTTP_HTML, write_index);
}
