/* SPDX-License-Identifier: MIT
 *
 * token_option.h: the option of the verbs that read from servers.
 */
#ifndef CP_TOKEN_OPTION_H
#define CP_TOKEN_OPTION_H

#include "ask/token_file.h"
#include "verbs/command_line.h"

/* A row of a table of options. */
#define CP_TOKEN_OPTION                                                                            \
    {                                                                                              \
        0, "token-file", NULL, CP_OPTION_TEXT, cp_token_file(), 0, 0, "FILE",                      \
            "send the first line of FILE to servers that want a token (or of the file in "         \
            "$CPPROF_TOKEN_FILE)",                                                                 \
            .rare = true                                                                           \
    }

#endif
