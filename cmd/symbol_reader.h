/* SPDX-License-Identifier: MIT
 *
 * symbol_reader.h: libiberty's demanglers, within bounds.
 *
 * A profile may come from anybody, and so may the symbols in it. libiberty limits its recursion, but
 * not its time nor its text: 150 bytes of a C++ symbol can keep it busy for years, 300 bytes can
 * become gigabytes. Here a symbol that goes beyond a bound has no readable name:
 *
 *   symbol   8 KiB
 *   text     64 KiB
 *   time     50 to 100 ms of CPU time (C++; a Rust symbol's time is bounded by its text)
 *
 * After 16 symbols that took too long no C++ symbol is read any more, so that a profile full of them
 * costs seconds.
 *
 * Owns: SIGVTALRM and the timer ITIMER_VIRTUAL of the process, from the first C++ symbol on.
 */
#ifndef CP_SYMBOL_READER_H
#define CP_SYMBOL_READER_H

/* Both return NULL if that is no such symbol or if it goes beyond a bound; the result is to be
 * freed. `options` are libiberty's DMGL_*. */
char *cp_cxx_symbol_read(const char *symbol, int options);
char *cp_rust_symbol_read(const char *symbol);

#endif
