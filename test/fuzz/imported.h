/* SPDX-License-Identifier: MIT
 *
 * imported.h: any bytes as a profile of another format.
 *
 * What was read is consistent: it survives being written as profile.proto and read again.
 */
#ifndef PP_TEST_FUZZ_IMPORTED_H
#define PP_TEST_FUZZ_IMPORTED_H

#include "base/message.h"
#include "import/formats.h"
#include "profile/profile_decode.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_imported(const uint8_t *data, size_t size, const cp_format *format)
{
    cp_profile *profile, *again;
    pp_buffer bytes = PP_BUFFER_INIT;
    cp_error error;

    if (!format->recognize(data, size) || format->decode(data, size, &profile, &error) < 0) {
        return 0;
    }
    cp_profile_encode(profile, &bytes);
    if (cp_profile_decode(bytes.data, bytes.size, &again, &error) < 0 ||
        again->sample_count != profile->sample_count ||
        again->location_count != profile->location_count ||
        again->function_count != profile->function_count ||
        again->mapping_count != profile->mapping_count) {
        abort();
    }
    cp_profile_free(again);
    cp_profile_free(profile);
    pp_buffer_release(&bytes);
    return 0;
}

#endif
