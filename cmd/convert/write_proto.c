/* SPDX-License-Identifier: MIT
 *
 * write_proto.c: profiles as profile.proto, and as the page that has it inside; see convert.h.
 *
 * Owns: nothing after a call.
 * Tested by: e2e.cpprof_convert.
 */
#include "convert/convert.h"

#include "import/gunzip.h"
#include "page/page_file.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "report/report.h"

static void encode(const cp_report *report, pp_buffer *bytes)
{
    cp_profile *rest = cp_report_rest(report);

    cp_profile_encode(rest, bytes);
    cp_profile_free(rest);
}

void cp_convert_proto(const cp_report *report, FILE *out)
{
    pp_buffer plain = PP_BUFFER_INIT;

    encode(report, &plain);
    fwrite(plain.data, 1, plain.size, out);
    pp_buffer_release(&plain);
}

void cp_convert_gzip(const cp_report *report, FILE *out)
{
    pp_buffer plain = PP_BUFFER_INIT;
    cp_bytes packed = {0};

    encode(report, &plain);
    cp_gzip_compress(plain.data, plain.size, &packed);
    fwrite(packed.data, 1, packed.length, out);
    pp_buffer_release(&plain);
    cp_bytes_release(&packed);
}

void cp_convert_page(const cp_report *report, FILE *out)
{
    cp_profile *rest = cp_report_rest(report);
    cp_bytes page = {0};

    cp_page_build(rest, "profile.pb.gz", &page);
    fwrite(page.data, 1, page.length, out);
    cp_bytes_release(&page);
    cp_profile_free(rest);
}
