/* SPDX-License-Identifier: MIT
 *
 * page_file.c: see page_file.h.
 *
 *   the page | <script type=... id="profile" data-name="NAME"> base64 </script> | </body></html>
 *
 * A browser does not run a script of an unknown type, and base64 has no character that HTML gives a
 * meaning.
 *
 * Owns: nothing after the call.
 * Tested by: page.logic
 */
#include "page/page_file.h"

#include "base/base_name.h"
#include "base/message.h"
#include "import/gunzip.h"
#include "import/profile_file.h"
#include "page/base64.h"
#include "page/page_data.h"
#include "page/page_sources.h"
#include "profile/profile_encode.h"
#include "profile/profile_filter.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/profile_units.h"
#include "profile/protobuf.h"

#include <string.h>

typedef struct page_profile {
    cp_profile *profile;
    const char *name; /* of its file; the page proposes it for a download */
} page_profile;

static void put(cp_bytes *out, const char *text)
{
    cp_bytes_append(out, text, strlen(text));
}

static void put_base64(cp_bytes *out, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i += BASE64_BYTES) {
        char digits[BASE64_DIGITS];
        base64_group(data + i, length - i, digits);
        cp_bytes_append(out, digits, sizeof digits);
    }
}

/* Writes the text as the value of an attribute in double quotes. */
static void put_attribute(cp_bytes *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '"':
            put(out, "&quot;");
            break;
        case '&':
            put(out, "&amp;");
            break;
        case '<':
            put(out, "&lt;");
            break;
        default:
            cp_bytes_append(out, text + i, 1);
        }
    }
}

static void put_profile(cp_bytes *out, const char *id, const page_profile *part)
{
    pp_buffer plain = PP_BUFFER_INIT;
    cp_bytes packed = {0};
    size_t length;
    const char *name = cp_base_name(part->name, &length);

    put(out, "<script type=\"application/octet-stream;base64\" id=\"");
    put(out, id);
    put(out, "\" data-name=\"");
    put_attribute(out, name, length);
    put(out, "\">");
    cp_profile_encode(part->profile, &plain);
    cp_gzip_compress(plain.data, plain.size, &packed);
    put_base64(out, packed.data, packed.length);
    put(out, "</script>\n");
    pp_buffer_release(&plain);
    cp_bytes_release(&packed);
}

/* Puts the profiles in front of the end of the page's body. The build's page has that tag once. */
static void build(const page_profile *profiles, bool with_sources, cp_bytes *out)
{
    static const char *const ids[] = {"profile", "base"};
    static const char tail[] = "</body>";
    size_t length = cp_page_length;
    const char *end = memmem(cp_page_data, length, tail, sizeof tail - 1);
    size_t head = end ? (size_t)(end - cp_page_data) : length;

    cp_bytes_append(out, cp_page_data, head);
    for (int i = 0; i < 2 && profiles[i].profile; i++) {
        put_profile(out, ids[i], &profiles[i]);
    }
    if (with_sources) {
        put(out, "<script type=\"application/json\" id=\"sources\">");
        cp_page_put_sources(profiles[0].profile, out);
        put(out, "</script>\n");
    }
    cp_bytes_append(out, cp_page_data + head, length - head);
}

static bool has_filters(const cp_filters *filters)
{
    for (int i = 0; i < CP_FILTERS; i++) {
        if (filters->texts[i]) {
            return true;
        }
    }
    return false;
}

/* Leaves in the profile what the user wants to see. */
static int choose(page_profile *part, const cp_page_options *options, cp_error *error)
{
    const cp_report_options wanted = {
        .sample = options->sample, .filters = options->filters, .any_bytes = true};
    cp_report report;
    cp_error inner;

    if (!options->sample && !has_filters(&options->filters)) {
        return 0;
    }
    cp_profile_prune(part->profile);
    if (cp_report_init(&report, part->profile, &wanted, &inner) < 0) {
        return cp_fail(error, "%.300s: %.600s", part->name, inner.text);
    }
    cp_profile *rest = cp_report_rest(&report);
    cp_report_release(&report);
    cp_profile_free(part->profile);
    part->profile = rest;
    return 0;
}

/* Whether a value is below 0, as in the difference of two profiles. */
static bool has_negative_value(const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        for (uint32_t j = 0; j < profile->sample_type_count; j++) {
            if (profile->samples[i].values[j] < 0) {
                return true;
            }
        }
    }
    return false;
}

/* Adds up equal stacks where a report, which does not, shows the same: a total is a sum of absolute
 * values, and mappings that become one have one name. */
static cp_profile *join(cp_profile *source)
{
    cp_profile *joined;
    cp_error ignored;

    if (has_negative_value(source)) {
        return source;
    }
    cp_profile_merge(&source, 1, &joined, &ignored); /* cannot fail: there is only one */
    bool same = joined->mapping_count == source->mapping_count;
    cp_profile_free(same ? source : joined);
    return same ? joined : source;
}

/* Reads a profile, with functions named for people. */
static int load(page_profile *part, const cp_page_options *options, cp_error *error)
{
    cp_profile *source;

    if (cp_profile_read_file(part->name, &source, error) < 0) {
        return -1;
    }
    cp_profile_ensure_mapping(source);
    part->profile = join(source);
    cp_profile_add_lines(part->profile, &options->lines);
    cp_profile_drop_functions(part->profile);
    cp_profile_demangle_as(part->profile, options->mode);
    return choose(part, options, error);
}

static int load_both(page_profile *profiles, const cp_page_options *options, cp_error *error)
{
    if (load(&profiles[0], options, error) < 0) {
        return -1;
    }
    if (!profiles[1].name) {
        return 0;
    }
    if (load(&profiles[1], options, error) < 0) {
        return -1;
    }
    cp_profile *both[] = {profiles[0].profile, profiles[1].profile};
    cp_error inner = {{0}};
    if (cp_profile_align_units(both, 2, &inner) < 0) {
        return cp_fail(error, "%.200s and %.200s: %.600s", profiles[0].name, profiles[1].name,
                       inner.text);
    }
    return 0;
}

void cp_page_build(cp_profile *profile, const char *name, cp_bytes *out)
{
    const page_profile profiles[2] = {{profile, name}, {NULL, NULL}};

    build(profiles, false, out);
}

int cp_page_write(const cp_page_options *options, const char *out, cp_error *error)
{
    page_profile profiles[2] = {{NULL, options->path}, {NULL, options->base}};
    cp_bytes page = {0};

    int status = load_both(profiles, options, error);
    if (status == 0) {
        build(profiles, options->with_sources, &page);
        status = cp_file_put(out, &page, error);
    }
    cp_bytes_release(&page);
    cp_profile_free(profiles[0].profile);
    cp_profile_free(profiles[1].profile);
    return status;
}
