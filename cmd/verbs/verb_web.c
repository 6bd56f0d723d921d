/* SPDX-License-Identifier: MIT
 *
 * verb_web.c: `cpprof web`, which opens a profile in a browser.
 *
 * Tested by: page.logic
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "page/page_file.h"
#include "verbs/page_verb.h"
#include "base/pool.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char cp_help_web[] =
    "usage: cpprof web [OPTIONS] [FILE]\n"
    "\n"
    "Writes the page of `cpprof flame` and opens it in a browser: in that of\n"
    "$BROWSER, or by xdg-open where there is a desktop. Prints the path of the page.\n"
    "\n"
    "Example: cpprof web --sources prof.pb.gz\n"
    "\n"
    "The page is a new file in $TMPDIR or /tmp, unless -o names it.\n" CP_PAGE_NOTES;

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

/* The command that opens a page, or NULL. */
static const char *browser(void)
{
    if (is_set("BROWSER")) {
        return getenv("BROWSER");
    }
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") ? "xdg-open" : NULL;
}

/* A new, empty file that only this user can read; to be freed. */
static char *new_page(cp_error *error)
{
    static const char end[] = ".html";
    const char *folder = is_set("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char *path = cp_heap_printf("%s/cpprof-XXXXXX%s", folder, end);

    int fd = mkostemps(path, sizeof end - 1, 0);
    if (fd < 0) {
        cp_fail(error, "%s: cannot create: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    close(fd);
    return path;
}

/* Runs the command and waits for it; xdg-open and its like end at once. */
static int open_page(const char *command, const char *path)
{
    char *arguments[] = {(char *)(uintptr_t)command, (char *)(uintptr_t)path, NULL};
    pid_t child;

    int status = posix_spawnp(&child, command, NULL, NULL, arguments, environ);
    if (status != 0) {
        cp_complain("%s: cannot start: %s; open the page by hand", command, strerror(status));
        return CP_EXIT_BAD_INPUT;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

static int show(const cp_page_options *options, const char *path)
{
    cp_error error;

    if (cp_page_write(options, path, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    printf("%s\n", path);
    if (fflush(stdout) != 0) {
        return CP_EXIT_BAD_INPUT;
    }
    return browser() ? open_page(browser(), path) : CP_EXIT_OK;
}

/* Without `out` the page is a new file, which stays if somebody looks at it. */
static int show_new(const cp_page_options *options)
{
    cp_error error;
    char *path = new_page(&error);

    if (!path) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    int status = show(options, path);
    if (status != CP_EXIT_OK && !browser()) {
        unlink(path);
    }
    free(path);
    return status;
}

int cp_run_web(int argc, char **argv)
{
    cp_page_options options = {0};
    const char *out = NULL;
    char *newest;

    int status = CP_EXIT_OK;
    if (cp_page_parse("web", argc, argv, &options, &out, &newest, &status) == 0) {
        status = out && *out ? show(&options, out) : show_new(&options);
    }
    cp_page_release(&options, newest);
    return status;
}
