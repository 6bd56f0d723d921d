/* SPDX-License-Identifier: MIT
 *
 * symbol_reader.h: libiberty's demanglers, within bounds.
 *
 * A profile may come from a stranger, and its symbols too. libiberty bounds its recursion, but
 * neither its time nor its text: a C++ symbol of 150 bytes can keep it busy for years, one of 300
 * bytes can become gigabytes of text. Here a symbol that exceeds a bound has no readable name:
 *
 *   symbol   8 KiB
 *   text     64 KiB
 *   time     50 to 100 ms of CPU time (C++; a Rust symbol's time is bounded by its text)
 *
 * After 16 symbols that took too long no other C++ symbol is read: a profile full of them costs two
 * seconds.
 *
 * Owns: SIGVTALRM and the timer ITIMER_VIRTUAL of the process, from the first C++ symbol on.
 */
#ifndef CP_SYMBOL_READER_H
#define CP_SYMBOL_READER_H

/* Each function returns the text of a symbol, to be freed; NULL if it is no symbol of that language
 * or exceeds a bound. `options` are libiberty's DMGL_*. */
char *cp_cxx_symbol_read(const char *symbol, int options);
char *cp_rust_symbol_read(const char *symbol);

#endif
