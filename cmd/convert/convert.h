/* SPDX-License-Identifier: MIT
 *
 * convert.h: the formats that `cpprof convert` writes, other than those of the reports.
 *
 * Each function writes one report to `out`; an error of the stream is the caller's to find.
 */
#ifndef CP_CONVERT_H
#define CP_CONVERT_H

#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_report cp_report;

/* profile.proto: all samples that the filters leave over, with everything that they refer to. */
void cp_convert_proto(const cp_report *report, FILE *out);
/* The same, gzipped. */
void cp_convert_gzip(const cp_report *report, FILE *out);

/* Folded stacks, as flamegraph.pl and inferno read them: "root;caller;leaf VALUE". */
void cp_convert_folded(const cp_report *report, FILE *out);

/* The file format of speedscope, with all sample types, or with the one that the user chose. */
void cp_convert_speedscope(const cp_report *report, FILE *out);

/* A flame graph as an SVG. */
#define CP_SVG_WIDTH 1200 /* pixels, unless the user chose */
void cp_convert_svg(const cp_report *report, FILE *out);

/* The call graph in the language of Graphviz, as `go tool pprof -dot` prints it. */
void cp_convert_dot(cp_report *report, FILE *out);

/* The page of `cpprof flame`, with what the filters leave over. */
void cp_convert_page(const cp_report *report, FILE *out);

/* LLVM's sample profile as text, for clang -fprofile-sample-use. Returns 0, or -1 with a sentence if there is no
 * debug information of the build that was profiled. */
int cp_convert_afdo(const cp_report *report, FILE *out, cp_error *error);

/* GCC's AutoFDO profile, for gcc -fauto-profile. Returns as cp_convert_afdo() does. */
int cp_convert_gcov(const cp_report *report, FILE *out, cp_error *error);

/* BOLT's profile without branch records, for llvm-bolt --data, of the file that has most of the samples. Returns 0, or
 * -1 with a sentence if that file is gone, or of another build than the one that was profiled. */
int cp_convert_fdata(const cp_report *report, FILE *out, cp_error *error);

#endif
