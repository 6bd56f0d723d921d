/* SPDX-License-Identifier: MIT
 *
 * nameless.h: advice for a report in which functions have no names: which debug packages have them.
 */
#ifndef CP_NAMELESS_H
#define CP_NAMELESS_H

typedef struct cp_report cp_report;

/*
 * If functions without a symbol have 5 % of the report or more, prints on standard error the files
 * that these functions are in, at most three, those with the largest shares. For each file it names
 * the debug package, if dpkg's records (in $CPPROF_DPKG, else /var/lib/dpkg) have it, else the
 * build id. Prints at most once in the life of the program. Uses no network and starts no program.
 */
void cp_nameless_advise(const cp_report *report);

#endif
