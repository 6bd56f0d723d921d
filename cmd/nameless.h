/* SPDX-License-Identifier: MIT
 *
 * nameless.h: how much of a report has no names, and which packages would give them.
 */
#ifndef CP_NAMELESS_H
#define CP_NAMELESS_H

typedef struct cp_report cp_report;

/*
 * If functions without a symbol have 5 % of the report or more, says so on standard error, once in
 * the life of the program: with the debug packages of the files that they are in, as far as dpkg's
 * records (in $CPPROF_DPKG, else /var/lib/dpkg) know these; else by their build ids. Asks no
 * network, starts no program, and looks at three files at most, those with the largest shares.
 */
void cp_nameless_advise(const cp_report *report);

#endif
