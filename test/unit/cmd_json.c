/* SPDX-License-Identifier: MIT
 *
 * cmd_json.c: commas, and texts with bytes that JSON does not allow.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/json.h"

#include <stdlib.h>

static void elements_are_separated(void **state)
{
    char *text = NULL;
    size_t length;
    cp_json json = {open_memstream(&text, &length), false};

    (void)state;
    cp_json_open(&json, NULL, '{');
    cp_json_open(&json, "rows", '[');
    cp_json_number(&json, NULL, -1);
    cp_json_unsigned(&json, NULL, UINT64_MAX);
    cp_json_open(&json, NULL, '{');
    cp_json_close(&json, '}');
    cp_json_close(&json, ']');
    cp_json_flag(&json, "yes", true);
    cp_json_text(&json, "name", "x");
    cp_json_close(&json, '}');
    fclose(json.out);
    assert_string_equal(text,
                        "{\"rows\":[-1,18446744073709551615,{}],\"yes\":true,\"name\":\"x\"}");
    free(text);
}

static void texts_are_escaped(void **state)
{
    static const char *const cases[][2] = {
        {"a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\""},
        {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff|\xc3|\xc0\x80|\xed\xa0\x80", "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
                                            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t length;
        cp_json json = {open_memstream(&text, &length), false};

        cp_json_text(&json, NULL, cases[i][0]);
        fclose(json.out);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_separated),
        cmocka_unit_test(texts_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
