/* SPDX-License-Identifier: MIT
 *
 * verb_ps.c: `cpprof ps`, which lists the processes that can be asked for profiles.
 *
 * Tested by: e2e.cpprof_ps.
 */
#include "verbs/verbs.h"

#include "ask/control_list.h"
#include "base/json.h"
#include "base/message.h"
#include "verbs/command_line.h"

#include <stdio.h>
#include <string.h>

const char cp_help_ps[] =
    "usage: cpprof ps [--json | --brief]\n"
    "\n"
    "Lists the processes that have libpprof in them: what they record now, and how to\n"
    "reach them. One that has a control socket is a FILE for every report, by its\n"
    "number: pid:1234 is the CPU profile of the next 10 seconds, pid:1234/heap the\n"
    "heap profile.\n"
    "\n"
    "Example: cpprof ps && cpprof top pid:$(pgrep -n redis-server)\n"
    "\n"
    "A process has a socket if it was started with the option control,\n"
    "LIBPPROF=control LD_PRELOAD=libpprof.so.0 COMMAND, or after `cpprof configure\n"
    "PID OPTIONS`. Only its own user and root can ask it. A process of another user\n"
    "is listed if the kernel shows the name of its socket. Sockets that killed\n"
    "processes of this user have left are removed.\n";

/* How the process is reached, or why not. */
static void print_way(const cp_process *p, char *text, size_t room)
{
    if (p->hindrance) {
        snprintf(text, room, "%s", p->hindrance);
    } else {
        snprintf(text, room, "%s%s%s%s", p->control ? "control" : "",
                 p->control && p->http ? ", " : "", p->http ? "http " : "", p->http ? p->http : "");
    }
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void print_table(const cp_process_list *list)
{
    char way[256];
    int user = 4, on = 2, ways = 3;

    for (size_t i = 0; i < list->count; i++) {
        const cp_process *p = &list->processes[i];
        print_way(p, way, sizeof way);
        user = wider(user, p->user_name);
        on = wider(on, p->on ? p->on : "-");
        ways = wider(ways, way);
    }
    printf("%7s %-*s %-*s %-*s %s\n", "PID", user, "USER", on, "ON", ways, "WAY", "COMMAND");
    for (size_t i = 0; i < list->count; i++) {
        const cp_process *p = &list->processes[i];
        print_way(p, way, sizeof way);
        printf("%7d %-*s %-*s %-*s %s\n", p->pid, user, p->user_name, on,
               p->on && *p->on ? p->on : "-", ways, way, p->command);
    }
}

/* For the completion of shells: one on a line, with a tab before the command. */
static void print_brief(const cp_process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const cp_process *p = &list->processes[i];
        if (p->control && !p->hindrance) {
            printf("%d\t%s\n", p->pid, p->command);
        }
    }
}

/* "cpu heap:1" as an array. */
static void add_kinds(cp_json *json, const char *on)
{
    cp_json_open(json, "on", '[');
    while (*on) {
        size_t length = strcspn(on, " ");
        cp_json_bytes(json, NULL, on, length);
        on += length + strspn(on + length, " ");
    }
    cp_json_close(json, ']');
}

static void print_json(const cp_process_list *list)
{
    cp_json json = {.out = stdout};

    cp_json_open(&json, NULL, '[');
    for (size_t i = 0; i < list->count; i++) {
        const cp_process *p = &list->processes[i];
        cp_json_open(&json, NULL, '{');
        cp_json_number(&json, "pid", p->pid);
        cp_json_text(&json, "user", p->user_name);
        cp_json_text(&json, "command", p->command);
        cp_json_flag(&json, "reachable", !p->hindrance);
        if (p->on) {
            add_kinds(&json, p->on);
        }
        if (p->control) {
            cp_json_text(&json, "control", p->control);
        }
        if (p->http) {
            cp_json_text(&json, "http", p->http);
        }
        if (p->hindrance) {
            cp_json_text(&json, "why", p->hindrance);
        }
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    putchar('\n');
}

int cp_run_ps(int argc, char **argv)
{
    bool json = false, brief = false;
    const cp_option table[] = {
        {0, "json", NULL, CP_OPTION_FLAG, &json, 0, 0, NULL, "print JSON"},
        {0, "brief", NULL, CP_OPTION_FLAG, &brief, 0, 0, NULL,
         "print only the numbers and commands of those with a control socket"},
        {0},
    };

    cp_operands operands;
    cp_process_list list;
    int status = CP_EXIT_OK;
    if (cp_options_parse("ps", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count > 0) {
        return cp_bad_usage("ps", "ps: expected nothing else, found %s", operands.values[0]);
    }
    cp_control_remove_left();
    cp_process_list_read(&list);
    if (json) {
        print_json(&list);
    } else if (brief) {
        print_brief(&list);
    } else if (list.count > 0) {
        print_table(&list);
    } else {
        cp_complain("ps: no process has libpprof in it; start one with "
                    "LIBPPROF=control LD_PRELOAD=libpprof.so.0");
    }
    cp_process_list_release(&list);
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}
