/* SPDX-License-Identifier: MIT
 *
 * http_query.h: reads the parameters of a request [net/url Query, strconv ParseInt].
 *
 * Zone: NORMAL. The bytes come from anybody: see test/fuzz/fuzz_http_query.c.
 */
#ifndef PP_WEB_HTTP_QUERY_H
#define PP_WEB_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_HTTP_VALUE_MAX = 256 };

/*
 * Decodes %XX in `length` bytes of text, and with `is_query` also '+', which is a space. False,
 * with "" in `out`, if an escape is broken, the text does not fit with its NUL, or it contains a
 * NUL.
 */
bool pp_http_decode(const char *text, size_t length, bool is_query, char *out, size_t capacity);

/*
 * Stores the first value of `key` in a query ("a=1&b=2"), decoded. False, and "", if the query does
 * not have the key; pairs that cannot be decoded or contain a ';' are skipped, as in Go. A value
 * that is too long is cut off.
 */
bool pp_http_query_get(const char *query, const char *key, char value[PP_HTTP_VALUE_MAX]);

/* Reads a decimal number with or without a sign, and nothing else. False if it is none; *number is
 * 0 then, or the nearest number if there are too many digits. */
bool pp_http_number(const char *text, int64_t *number);

/* pp_http_number() of a parameter. False, and 0, also if the query does not have it. */
bool pp_http_query_number(const char *query, const char *key, int64_t *number);

/* Reads an address in any of Go's bases: 0x1f, 0b1, 0o7, 07, 10. False if `length` bytes of text
 * are none. */
bool pp_http_parse_pc(const char *text, size_t length, uint64_t *pc);

#endif
