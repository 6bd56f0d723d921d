/* SPDX-License-Identifier: MIT
 *
 * verb_agent.c: `cpprof agent`, which serves the profiles of all processes of a host.
 *
 * Tested by: e2e.cpprof_agent.
 */
#include "verbs/verbs.h"

#include "agent/agent.h"
#include "base/message.h"
#include "verbs/command_line.h"

#include <stddef.h>

#define DEFAULT_ADDRESS "127.0.0.1:6061"

const char cp_help_agent[] =
    "usage: cpprof agent [--listen ADDRESS] [--token-file FILE]\n"
    "\n"
    "Serves the profiles of all processes of this host that have a control socket\n"
    "(see `cpprof help ps`) under one address: as root those of all users, else of\n"
    "this user. The programs need no HTTP for that.\n"
    "\n"
    "Example: cpprof agent --listen 127.0.0.1:6061\n"
    "\n"
    "    /                         the list of the processes, for a browser\n"
    "    /targets                  the list for Prometheus' http_sd_config, which\n"
    "                              Grafana Alloy and Parca read, too\n"
    "    /PID/debug/pprof/NAME     what a process answers at /debug/pprof/NAME\n"
    "\n"
    "The address is printed when the agent listens. It runs until SIGTERM or SIGINT.\n";

int cp_run_agent(int argc, char **argv)
{
    cp_agent_options options = {.listen = DEFAULT_ADDRESS};
    const cp_option table[] = {
        {0, "listen", NULL, CP_OPTION_TEXT, &options.listen, 0, 0, "ADDRESS",
         "serve at 127.0.0.1:PORT, [::1]:PORT or unix:/PATH (" DEFAULT_ADDRESS ")"},
        {0, "token-file", NULL, CP_OPTION_TEXT, &options.token_file, 0, 0, "FILE",
         "clients must show the token in the first line of FILE"},
        {0}};
    cp_operands operands;
    cp_error error;
    int status = CP_EXIT_OK;

    if (cp_options_parse("agent", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count > 0) {
        return cp_bad_usage("agent", "agent: %s: expected options only", operands.values[0]);
    }
    if (cp_agent_run(&options, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    return CP_EXIT_OK;
}
