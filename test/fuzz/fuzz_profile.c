/* SPDX-License-Identifier: MIT
 *
 * fuzz_profile.c: any bytes as a profile, through everything that `cpprof top`, `merge` and `convert` do.
 *
 * What was read must also survive being written and read again, with the same samples.
 */
#include "base/message.h"
#include "convert/convert.h"
#include "import/profile_file.h"
#include "profile/profile_encode.h"
#include "profile/profile_filter.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"

#include <stdio.h>
#include <stdlib.h>

/* Small enough that a decompression bomb is only a slow input. */
#define MAX_BYTES ((size_t)1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(cp_profile *profile)
{
    static FILE *nowhere;
    const cp_report_options options = {.node_count = 5, .granularity = CP_ADDRESSES};
    cp_report made;
    cp_error error;

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    cp_profile_demangle(profile);
    cp_profile_prune(profile);
    cp_profile_forget_urls(profile);
    if (cp_report_init(&made, profile, &options, &error) < 0)
        return;
    cp_report_build_graph(&made, true);
    cp_report_print_profile(&made, nowhere);
    cp_report_print_summary(&made, nowhere);
    cp_report_print_rows(&made, nowhere);
    (void)cp_report_print_tree(&made, NULL, nowhere, &error);
    cp_report_print_traces(&made, nowhere);
    cp_report_print_tags(&made, nowhere);
    cp_report_print_raw(&made, nowhere);
    (void)cp_report_json_tree(&made, NULL, nowhere, &error);
    cp_report_json_traces(&made, nowhere);
    cp_report_json_raw(&made, nowhere);
    cp_convert_folded(&made, nowhere);
    cp_convert_speedscope(&made, nowhere);
    cp_convert_svg(&made, nowhere);
    cp_convert_dot(&made, nowhere);
    cp_report_release(&made);
}

static void round_trip(const cp_profile *profile)
{
    pp_buffer bytes = PP_BUFFER_INIT;
    cp_profile *again;
    cp_error error;

    cp_profile_encode(profile, &bytes);
    if (cp_profile_read_bytes(bytes.data, bytes.size, MAX_BYTES, &again, &error) < 0 ||
        again->sample_count != profile->sample_count ||
        again->location_count != profile->location_count)
        abort();
    cp_profile_free(again);
    pp_buffer_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cp_profile *both[2], *merged;
    cp_error error;

    if (cp_profile_read_bytes(data, size, MAX_BYTES, &both[0], &error) < 0)
        return 0;
    if (cp_profile_read_bytes(data, size, MAX_BYTES, &both[1], &error) < 0)
        abort();
    if (cp_profile_merge(both, 2, &merged, &error) < 0)
        abort();
    round_trip(merged);
    report(merged);
    cp_profile_free(merged);
    if (cp_profile_subtract(both[0], both[1], &merged, &error) < 0)
        abort();
    if (merged->sample_count > 0 && merged->time_nanos == 0)
        report(merged);
    cp_profile_free(merged);
    return 0;
}
