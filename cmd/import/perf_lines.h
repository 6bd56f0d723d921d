/* SPDX-License-Identifier: MIT
 *
 * perf_lines.h: the two kinds of lines that `perf script` prints (perf_script.c), and their parts.
 */
#ifndef CP_PERF_LINES_H
#define CP_PERF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a line. */
typedef struct cp_span {
    const char *at;
    size_t length;
} cp_span;

/* The first line of a sample. */
typedef struct cp_perf_header {
    cp_span comm, event; /* the event is without its modifiers, such as :u */
    int64_t pid, tid;    /* -1: not there */
    int64_t period;      /* 1 if it is not there */
    bool has_time;
    const char *rest; /* what comes after the event: a frame, or what a tracepoint has */
} cp_perf_header;

typedef struct cp_perf_frame {
    uint64_t address;
    cp_span symbol; /* empty: unknown */
    cp_span file;   /* the program or library; empty: unknown */
    bool inlined;
} cp_perf_frame;

/* Both return false if the line is none. */
bool cp_perf_parse_header(const char *line, cp_perf_header *header);
bool cp_perf_parse_frame(const char *line, cp_perf_frame *frame);

/* Where a frame is in the source. */
typedef struct cp_perf_source {
    cp_span file; /* empty: unknown, as in "??:0" and ":0" */
    int64_t line;
    bool inlined;
} cp_perf_source;

/* Parses "SOURCE:LINE" and "SOURCE:LINE (inlined)". */
bool cp_perf_parse_source(const char *line, cp_perf_source *source);

#endif
