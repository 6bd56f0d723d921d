/* SPDX-License-Identifier: MIT
 *
 * write_proto.c: profiles as profile.proto, and as the page that has it inside; see convert.h.
 *
 * Owns: nothing after a call.
 * Tested by: e2e.cpprof_convert.
 */
#include "convert/convert.h"

#include "base/message.h"
#include "page/page_file.h"
#include "profile/gunzip.h"
#include "profile/profile_encode.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "report/report.h"

/* The profile without what no sample refers to any more. */
static cp_profile *rest_of(cp_report *report)
{
    cp_profile *merged;
    cp_error ignored;

    if (report->options->sample) {
        report->profile->default_sample_type =
            report->profile->sample_types[report->value_index].type;
    }
    cp_profile_merge(&report->profile, 1, &merged, &ignored); /* cannot fail: there is only one */
    return merged;
}

static void encode(cp_report *report, cp_bytes *bytes)
{
    cp_profile *rest = rest_of(report);

    cp_profile_encode(rest, bytes);
    cp_profile_free(rest);
}

void cp_convert_proto(cp_report *report, FILE *out)
{
    cp_bytes plain = {0};

    encode(report, &plain);
    fwrite(plain.data, 1, plain.length, out);
    cp_bytes_release(&plain);
}

void cp_convert_gzip(cp_report *report, FILE *out)
{
    cp_bytes plain = {0}, packed = {0};

    encode(report, &plain);
    cp_gzip_compress(plain.data, plain.length, &packed);
    fwrite(packed.data, 1, packed.length, out);
    cp_bytes_release(&plain);
    cp_bytes_release(&packed);
}

void cp_convert_page(cp_report *report, FILE *out)
{
    cp_profile *rest = rest_of(report);
    cp_bytes page = {0};

    cp_page_build(rest, "profile.pb.gz", &page);
    fwrite(page.data, 1, page.length, out);
    cp_bytes_release(&page);
    cp_profile_free(rest);
}
