/* SPDX-License-Identifier: MIT
 *
 * fuzz_legacy_text.c: any bytes as a profile in one of the formats of text.
 *
 * What was read is consistent: it survives being written as profile.proto and read again.
 */
#include "base/message.h"
#include "import/legacy_text.h"
#include "profile/profile_decode.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cp_profile *profile, *again;
    pp_buffer bytes = PP_BUFFER_INIT;
    cp_error error;

    if (!cp_legacy_text_is(data, size) || cp_legacy_text_decode(data, size, &profile, &error) < 0)
        return 0;
    cp_profile_encode(profile, &bytes);
    if (cp_profile_decode(bytes.data, bytes.size, &again, &error) < 0 ||
        again->sample_count != profile->sample_count ||
        again->location_count != profile->location_count ||
        again->mapping_count != profile->mapping_count)
        abort();
    cp_profile_free(again);
    cp_profile_free(profile);
    pp_buffer_release(&bytes);
    return 0;
}
