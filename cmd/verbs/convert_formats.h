/* SPDX-License-Identifier: MIT
 *
 * convert_formats.h: the formats of `cpprof convert` that another verb writes, too.
 */
#ifndef CP_CONVERT_FORMATS_H
#define CP_CONVERT_FORMATS_H

#include "verbs/report_verb.h"

/* `cpprof flame -o OUT.svg`. */
extern const cp_report_verb cp_flame_svg;

#endif
