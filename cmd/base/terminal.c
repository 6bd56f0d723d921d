/* SPDX-License-Identifier: MIT
 *
 * terminal.c: see terminal.h.
 *
 * Tested by: e2e.cpprof_terminal.
 */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cp_color_when cp_color_named(const char *word)
{
    if (word && strcmp(word, "always") == 0) {
        return CP_COLOR_ALWAYS;
    }
    return word && strcmp(word, "never") == 0 ? CP_COLOR_NEVER : CP_COLOR_AUTO;
}

bool cp_terminal_is_capable(int fd)
{
    const char *terminal = getenv("TERM");

    return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

bool cp_color_wanted(cp_color_when when, int fd)
{
    const char *forbidden = getenv("NO_COLOR");

    if (when != CP_COLOR_AUTO) {
        return when == CP_COLOR_ALWAYS;
    }
    return !(forbidden && *forbidden) && cp_terminal_is_capable(fd);
}

const char *cp_paint_begin(cp_paint paint, bool colored)
{
    static const char *const sequences[] = {
        [CP_PAINT_NONE] = "",          [CP_PAINT_HEADING] = "\033[1m", [CP_PAINT_MUCH] = "\033[31m",
        [CP_PAINT_LITTLE] = "\033[2m", [CP_PAINT_LESS] = "\033[32m",
    };

    return colored ? sequences[paint] : "";
}

const char *cp_paint_end(cp_paint paint, bool colored)
{
    return colored && paint != CP_PAINT_NONE ? "\033[m" : "";
}
