/* SPDX-License-Identifier: MIT
 *
 * verb_agent.c: `cpprof agent`, which serves and pushes the profiles of all processes of a host.
 *
 * Tested by: e2e.cpprof_agent, e2e.cpprof_agent_push.
 */
#include "verbs/verbs.h"

#include "agent/agent.h"
#include "agent/collectors.h"
#include "base/duration.h"
#include "base/message.h"
#include "verbs/command_line.h"

#include <stddef.h>

#define DEFAULT_ADDRESS "127.0.0.1:6061"

const char cp_help_agent[] =
    "usage: cpprof agent [--listen ADDRESS] [--push URL] [OPTIONS]\n"
    "\n"
    "Serves the profiles of all processes of this host that have a control socket\n"
    "(`cpprof help ps`) at " DEFAULT_ADDRESS " or ADDRESS, or pushes them to Pyroscope,\n"
    "Parca or an OTLP receiver: as root those of all users, else of this user.\n"
    "\n"
    "Example: cpprof agent --push http://127.0.0.1:4040\n"
    "\n"
    "/ is a list of the processes, /targets the same for Prometheus' http_sd_config,\n"
    "and /PID/debug/pprof/NAME what a process answers. --push sends what a process\n"
    "records, and its CPU profile, each --interval and at its end.\n";

enum { LEAST_SECONDS = 1, MOST_SECONDS = 3600 };

static int run(cp_agent_options *options, cp_collect_options *collect)
{
    cp_error error;

    options->collect = collect->server.url ? collect : NULL;
    options->record = collect->record;
    if (!options->listen && !options->collect) {
        options->listen = DEFAULT_ADDRESS;
    }
    if (cp_agent_run(options, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    return CP_EXIT_OK;
}

int cp_run_agent(int argc, char **argv)
{
    cp_agent_options options = {.listen = NULL};
    cp_collect_options collect = {.record = "cpu=shared"};
    const char *interval = "15s";
    const cp_option table[] = {
        {0, "listen", NULL, CP_OPTION_TEXT, &options.listen, 0, 0, "ADDRESS",
         "serve at 127.0.0.1:PORT, [::1]:PORT or unix:/PATH"},
        {0, "token-file", NULL, CP_OPTION_TEXT, &options.token_file, 0, 0, "FILE",
         "clients must show the token in FILE", NULL, true},
        {0, "push", NULL, CP_OPTION_TEXT, &collect.server.url, 0, 0, "URL",
         "send profiles to this server"},
        {0, "to", NULL, CP_OPTION_TEXT, &collect.server.to, 0, 0, "WHAT",
         "pyroscope, parca or otlp; else the server is asked", "pyroscope parca otlp", true},
        {0, "push-token-file", NULL, CP_OPTION_TEXT, &collect.server.token_file, 0, 0, "FILE",
         "show the server the token in FILE", NULL, true},
        {0, "tenant", NULL, CP_OPTION_TEXT, &collect.server.tenant, 0, 0, "NAME",
         "the server's tenant (X-Scope-OrgID)", NULL, true},
        {0, "ca-file", NULL, CP_OPTION_TEXT, &collect.server.ca_file, 0, 0, "FILE",
         "trust these certificates (PEM)", NULL, true},
        {0, "interval", NULL, CP_OPTION_TEXT, &interval, 0, 0, "TIME", "push so often (15s)"},
        {0, "only", NULL, CP_OPTION_TEXT, &options.only, 0, 0, "RE",
         "only processes whose command matches"},
        {0, "attach", NULL, CP_OPTION_TEXT, &options.attach, 0, 0, "RE",
         "attach to processes whose command matches"},
        {0, "record", NULL, CP_OPTION_TEXT, &collect.record, 0, 0, "OPTIONS",
         "have them record this (cpu=shared)"},
        {0, "state", NULL, CP_OPTION_TEXT, &collect.state, 0, 0, "FOLDER",
         "remember here what was pushed", NULL, true},
        {0}};
    cp_operands operands;
    int status = CP_EXIT_OK;

    if (cp_options_parse("agent", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count > 0) {
        return cp_bad_usage("agent", "agent: %s: expected options only", operands.values[0]);
    }
    if (!cp_duration_read(interval, &collect.interval) || collect.interval < LEAST_SECONDS ||
        collect.interval > MOST_SECONDS) {
        return cp_bad_usage("agent", "--interval %s: expected 1s to 1h", interval);
    }
    return run(&options, &collect);
}
