#!/bin/sh
# SPDX-License-Identifier: MIT
#
# http: what a server for /debug/pprof/ costs a stranger: loaded objects, constructors, memory, threads, and the time until
# clients can connect. http_parser is a parser only: the loop around it is not in its figures. The least of 20 runs.

set -eu
folder=${LIBRARY%/*}

# least NAME FILE [FIRST FILE]
least() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$PROGRAMS/http_door" "$@" 2>/dev/null || break
    done | awk '!($1 in least) || $2 < least[$1] { if (!($1 in least)) order[++n] = $1; least[$1] = $2; unit[$1] = $3 }
        END { for (i = 1; i <= n; i++) print order[i], least[order[i]], unit[order[i]]
              if (n == 0) print "# not installed: '"$2"'" }' | sed 's/^\([a-z]*\)\.\([a-z]*\) /http.\2.\1 /'
}

least pprof "$folder/libpprof-http.so.0" "$LIBRARY"
least civetweb libcivetweb.so.1
least microhttpd libmicrohttpd.so.12
least parser libhttp_parser.so.2.9
