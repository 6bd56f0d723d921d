/* SPDX-License-Identifier: MIT
 *
 * pages.c: see pages.h.
 *
 * Tested by: e2e.cpprof_agent, e2e.cpprof_agent_hostile.
 */
#include "agent/pages.h"

#include "base/json.h"
#include "base/pool.h"
#include "base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>cpprof agent</title>\n"
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:1.5rem auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "td{padding:.3rem .8rem .3rem 0;vertical-align:top;border-top:1px solid #8884}\n"
    "td:first-child{text-align:right;font-variant-numeric:tabular-nums}\n"
    "thead td{border:0;font-weight:600}\n"
    "</style>\n"
    "</head>\n"
    "<body>\n";

/* A text in a page, without what a browser would obey. Names come from processes: they may be anything. */
static void put_html(FILE *out, const char *text)
{
    char *printable = cp_printable(text, strlen(text));

    for (const char *c = printable; *c; c++) {
        if (strchr("<>&'\"", *c)) {
            fprintf(out, "&#%d;", *c);
        } else {
            fputc(*c, out);
        }
    }
    free(printable);
}

static FILE *begin(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);

    if (!out) {
        cp_out_of_memory();
    }
    return out;
}

static void end(FILE *out)
{
    if (fclose(out) != 0) {
        cp_out_of_memory();
    }
}

static void put_row(FILE *out, const cp_host_process *p)
{
    fprintf(out, "<tr><td>%d</td><td><a href='./%d/debug/pprof/'>", p->pid, p->pid);
    put_html(out, p->program);
    fputs("</a></td><td>", out);
    put_html(out, p->service);
    fputs("</td><td>", out);
    put_html(out, *p->on ? p->on : "while asked for");
    fputs("</td></tr>\n", out);
}

char *cp_pages_index(const cp_processes *processes, size_t *length)
{
    char *text = NULL;
    FILE *out = begin(&text, length);

    fprintf(out,
            "%s<h1>Processes</h1>\n"
            "<table>\n<thead><tr><td>PID</td><td>Program</td><td>Service</td><td>Records</td></tr>"
            "</thead>\n",
            head);
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->list[i]->is_reachable) {
            put_row(out, processes->list[i]);
        }
    }
    fputs("</table>\n<p><a href='./targets'>targets</a> for Alloy, Parca and Prometheus</p>\n"
          "</body>\n</html>\n",
          out);
    end(out);
    return text;
}

/* ---- a process ---- */

enum { PROFILES = 256, NAME_BYTES = 256 };

/* The next "href='./NAME?PARAMETER'" from *at on. Names that have other characters than those of a path are left out. */
static bool next_name(const char **at, const char *end, const char *parameter,
                      char name[NAME_BYTES])
{
    static const char before[] = "href='./";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~%";
    const char *found;

    while ((found = memmem(*at, (size_t)(end - *at), before, strlen(before)))) {
        const char *begin = found + strlen(before);
        size_t length = 0;
        while (begin + length < end && begin[length] && strchr(plain, begin[length])) {
            length++;
        }
        *at = begin + length;
        if (length > 0 && length < NAME_BYTES && (size_t)(end - *at) >= strlen(parameter) &&
            memcmp(*at, parameter, strlen(parameter)) == 0) {
            memcpy(name, begin, length);
            name[length] = '\0';
            return true;
        }
    }
    return false;
}

static void put_profiles(FILE *out, const char *own, size_t length)
{
    char name[NAME_BYTES];
    const char *at = own;

    for (int i = 0; i < PROFILES && next_name(&at, own + length, "?debug=1'", name); i++) {
        fprintf(out,
                "<tr><td></td><td><a href='./%s?debug=1'>%s</a></td><td><a href='./%s'>file</a> "
                "<a href='./flame?profile=%s'>graph</a></td></tr>\n",
                name, name, name, name);
    }
    at = own;
    for (int i = 0; i < PROFILES && next_name(&at, own + length, "?seconds=30'", name); i++) {
        fprintf(out,
                "<tr><td></td><td>%s</td><td><a href='./%s?seconds=10'>file of 10 s</a> "
                "<a href='./flame?profile=%s&amp;seconds=10'>graph of 10 s</a></td></tr>\n",
                name, name, name);
    }
}

char *cp_pages_process(const cp_host_process *process, const char *own, size_t own_length,
                       size_t *length)
{
    char *text = NULL;
    FILE *out = begin(&text, length);

    fprintf(out, "%s<h1>Process %d, ", head, process->pid);
    put_html(out, process->program);
    fputs("</h1>\n<table>\n<thead><tr><td></td><td>Profile</td><td>As</td></tr></thead>\n", out);
    put_profiles(out, own, own_length);
    fputs("</table>\n<p><a href='./deadlock'>deadlocks</a>, <a href='./cmdline'>command line</a>, "
          "<a href='../../../'>all processes</a></p>\n</body>\n</html>\n",
          out);
    end(out);
    return text;
}

/* ---- discovery ---- */

static void put_target(cp_json *json, const cp_host_process *p, const char *address,
                       const char *host)
{
    char name[48];

    cp_json_open(json, NULL, '{');
    cp_json_open(json, "targets", '[');
    cp_json_text(json, NULL, address);
    cp_json_close(json, ']');
    cp_json_open(json, "labels", '{');
    /* Parca and Alloy make a parameter of it, which the agent understands in every path. */
    snprintf(name, sizeof name, "%d.%" PRIu64, p->pid, p->start);
    cp_json_text(json, "__param_process", name);
    snprintf(name, sizeof name, "%d", p->pid);
    cp_json_text(json, "__meta_cpprof_records", p->on);
    cp_json_text(json, "service_name", p->service);
    cp_json_text(json, "process_pid", name);
    cp_json_text(json, "process_executable_name", p->program);
    cp_json_text(json, "host_name", host);
    cp_json_close(json, '}');
    cp_json_close(json, '}');
}

char *cp_pages_targets(const cp_processes *processes, const char *address, size_t *length)
{
    char *text = NULL, host[256] = "";
    FILE *out = begin(&text, length);
    cp_json json = {.out = out};

    gethostname(host, sizeof host - 1);
    cp_json_open(&json, NULL, '[');
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->list[i]->is_reachable) {
            put_target(&json, processes->list[i], address, host);
        }
    }
    cp_json_close(&json, ']');
    fputc('\n', out);
    end(out);
    return text;
}
