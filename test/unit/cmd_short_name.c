/* SPDX-License-Identifier: MIT
 *
 * cmd_short_name.c: names in the boxes of a call graph, as pprof shortens them.
 */
#include "cmd_builder.h"

#include "convert/short_name.h"

#include <stdlib.h>

static void expect(bool needs_dot, const char *name, const char *expected)
{
    cp_short_names names;

    cp_short_names_init(&names, needs_dot);
    char *found = cp_short_name(&names, name);
    assert_string_equal(found, expected);
    free(found);
    cp_short_names_release(&names);
}

static void names_are_shortened(void **state)
{
    static const char *const cases[][2] = {
        {"root", "root"},
        {"syscall.Syscall", "syscall.Syscall"},
        {"net/http.(*conn).serve", "http.(*conn).serve"},
        {"github.com/blahBlah/foo.Foo", "foo.Foo"},
        {"github.com/BlahBlah/foo.Foo", "foo.Foo"},
        {"github.com/foo/bar/v4.(*Foo).Bar", "bar.(*Foo).Bar"},
        {"github.com/foo/bar/v4/baz.Foo.Bar", "baz.Foo.Bar"},
        {"github.com/foo/bar/v123.Foo.Bar", "bar.Foo.Bar"},
        {"github.com/foobar/v0.Foo.Bar", "v0.Foo.Bar"},
        {"gopkg.in/foo.v3.Bar", "foo.v3.Bar"},
        {"java.util.concurrent.ThreadPoolExecutor$Worker.run(Native)",
         "ThreadPoolExecutor$Worker.run"},
        {"java.bar.foo.FooBar.<init>(java.lang.String)", "FooBar.<init>"},
        {"(anonymous namespace)::Bar::Foo", "Bar::Foo"},
        {"foo::Bar::bar_foo", "Bar::bar_foo"},
        {"cpp::namespace::Class<std::vector<int>>::f",
         "cpp::namespace::Class<std::vector<int>>::f"},
        {"bar_ns::Foo::~Foo", "Foo::~Foo"},
        {"std::operator+", "std::operator+"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(true, cases[i][0], cases[i][1]);
    }
}

static void a_path_without_a_dot_depends_on_the_version(void **state)
{
    (void)state;
    expect(false, "a/b/c", "c");
    expect(true, "a/b/c", "a/b/c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_shortened),
        cmocka_unit_test(a_path_without_a_dot_depends_on_the_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
