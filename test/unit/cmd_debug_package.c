/* SPDX-License-Identifier: MIT
 *
 * cmd_debug_package.c: the package with a file's debug files, by made-up records of dpkg.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "names/debug_package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/debug_package.XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_records(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    char path[256];
    snprintf(path, sizeof path, "%s/info", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put("info/gzip.list", "/.\n/bin\n/bin/gzip\n/bin/gzip-more\n");
    put("info/gzip.md5sums", "/bin/other\n");
    put("info/libc6:amd64.list", "/.\n/lib/x86_64-linux-gnu/libc.so.6\n");
    put("info/libpython3.11-minimal:amd64.list", "/usr/lib/python\n");
    put("info/empty.list", "");
    put("status", "Package: gzip-doc\nSource: wrong\n\nPackage: gzip\nStatus: installed\n\n"
                  "Package: libc6\nStatus: installed\nSource: glibc\n\n"
                  "Package: libpython3.11-minimal\nSource: python3.11 (3.11.2-6)\n\n");
    return 0;
}

static int remove_records(void **state)
{
    static const char *const names[] = {
        "info/gzip.list",        "info/gzip.md5sums",
        "info/libc6:amd64.list", "info/libpython3.11-minimal:amd64.list",
        "info/empty.list",       "status"};

    (void)state;
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/info", folder);
    rmdir(path);
    return rmdir(folder);
}

static void expect(const char *path, const char *expected)
{
    char *package = cp_debug_package(folder, path);

    assert_string_equal(package ? package : "none", expected);
    free(package);
}

static void packages_of_paths(void **state)
{
    (void)state;
    expect("/bin/gzip", "gzip-dbgsym");
    expect("/usr/bin/gzip", "gzip-dbgsym"); /* lists are older than /bin -> /usr/bin */
    expect("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg");
    expect("/usr/lib/python", "python3.11-dbg");
    expect("/lib/python", "python3.11-dbg");
}

static void paths_of_nobody(void **state)
{
    (void)state;
    expect("/bin/gzi", "none");
    expect("/bin/gzip-mor", "none");
    expect("/bin/other", "none"); /* no list */
    expect("gzip", "none");
    assert_null(cp_debug_package("/nonexistent", "/bin/gzip"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_of_paths),
        cmocka_unit_test(paths_of_nobody),
    };
    return cmocka_run_group_tests(tests, make_records, remove_records);
}
