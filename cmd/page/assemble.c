/* SPDX-License-Identifier: MIT
 *
 * assemble.c: makes one file of the page's modules, style and frame, when the project is built.
 *
 *   assemble FOLDER OUT
 *
 *   FOLDER/main.mjs and all that it imports -> one script --.
 *   FOLDER/page.css ------------------------> one style ----+-> FOLDER/page.html -> OUT
 *                              their SHA-256 -> the policy --'
 *
 * A module comes after those that it imports. What the browser has no use for is left out: the
 * lines "import {...} from './NAME.mjs';", the word "export" before a declaration, comments, blanks
 * beside signs, and the end of a line after { } ( , and ;. All modules share one scope then; a
 * name that two of them declare is an error of the script, which its tests find.
 *
 * page.html has one place each for the policy, the style and the script. The policy permits this
 * script and this style by their hashes, and nothing else.
 *
 * Zone: NORMAL, at build time
 *
 * Tested by: page.browser
 */
#include "page/base64.h"
#include "page/sha256.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_OF_STYLE  "/* style */"
#define PLACE_OF_SCRIPT "/* script */"
#define PLACE_OF_POLICY "{policy}"
#define MAIN_MODULE     "main.mjs"

enum { MAX_MODULES = 200, MAX_PATH = 4096 };

typedef struct text {
    char *data;
    size_t length, capacity;
} text;

typedef struct assembly {
    const char *folder;
    char *names[MAX_MODULES]; /* of the modules that were met */
    bool done[MAX_MODULES];   /* false: its imports are being read */
    int count;
    text script;
} assembly;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("assemble: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void append(text *to, const char *data, size_t length)
{
    while (to->capacity - to->length <= length) {
        to->capacity = to->capacity ? to->capacity * 2 : 1 << 16;
        to->data = realloc(to->data, to->capacity);
        if (!to->data) {
            die("out of memory");
        }
    }
    if (length) {
        memcpy(to->data + to->length, data, length);
    }
    to->length += length;
    to->data[to->length] = '\0';
}

static text read_file(const char *folder, const char *name)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        die("cannot open %s", path);
    }
    text content = {0};
    append(&content, "", 0);
    char buffer[8192];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        append(&content, buffer, got);
    }
    fclose(file);
    return content;
}

/* ---- modules ---- */

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static int find_module(const assembly *a, const char *name)
{
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The name in "import { ... } from './NAME';", in memory of its own. */
static char *imported_name(const char *module, const char *line, size_t length)
{
    static const char before[] = " from './", after[] = "';";
    const char *name = strstr(line, before);

    if (!name || name >= line + length || strncmp(line + length - 2, after, 2) != 0) {
        die("%s: expected an import on one line that ends with from './NAME.mjs';, found %.*s",
            module, (int)length, line);
    }
    name += sizeof before - 1;
    return strndup(name, (size_t)(line + length - 2 - name));
}

static void add_module(assembly *a, const char *name);

static void follow_import(assembly *a, const char *module, const char *line, size_t length)
{
    char *name = imported_name(module, line, length);
    int known = find_module(a, name);

    if (known >= 0 && !a->done[known]) {
        die("%s imports %s, which imports it: modules form no circle", module, name);
    }
    if (known < 0) {
        add_module(a, name);
    }
    free(name);
}

/* Whether a line of a module is one of a comment; *inside: it did not end yet. Comments have lines
 * of their own. */
static bool is_comment(const char *line, size_t length, bool *inside)
{
    bool begun = *inside || begins(line, "/*");

    if (begun) {
        *inside = !memmem(line, length, "*/", 2);
    }
    return begun || begins(line, "//");
}

/* Refuses a line that would mean something else beside its neighbours. */
static void check_line(const char *module, const char *line, size_t length)
{
    size_t quotes = 0;

    for (size_t i = 0; i < length; i++) {
        quotes += line[i] == '`';
    }
    if (quotes % 2 != 0 || memmem(line, length, " // ", 4)) {
        die("%s: expected a line without a comment at its end, with whole templates, found %.*s",
            module, (int)length, line);
    }
}

/* The end of the template that begins at a back quote. */
static const char *template_end(const char *at, const char *end)
{
    int depth = 0; /* of ${, { and } */

    for (at++; at < end && (depth || *at != '`'); at++) {
        if (*at == '\\') {
            at++;
        } else if (*at == '`') {
            at = template_end(at, end) - 1;
        } else if (begins(at, "${") || (*at == '{' && depth)) {
            depth++;
            at += *at == '$';
        } else if (*at == '}' && depth) {
            depth--;
        }
    }
    return at + 1;
}

/* The end of a text, or of a regular expression, in which a slash may stand between [ and ]. */
static const char *quoted_end(const char *at, const char *end)
{
    char quote = *at++;
    bool in_class = false;

    for (; at < end && (in_class || *at != quote); at++) {
        at += *at == '\\';
        if (quote == '/') {
            in_class = *at == '[' || (in_class && *at != ']');
        }
    }
    return at + 1;
}

/* The last character of a text; of an empty one what ends a statement. */
static char last_of(const text *code)
{
    if (!code->data || !code->length) {
        return ';';
    }
    return code->data[code->length - 1];
}

/* Where what has to stay as it is ends: a text, a template, a regular expression, which comes after
 * a sign or "return". at: it is none. */
static const char *literal_end(const char *at, const char *end, const text *before)
{
    size_t length = before->length;
    bool after_return = length > 7 && memcmp(before->data + length - 7, "return ", 7) == 0;

    if (*at == '`') {
        return template_end(at, end);
    }
    if (*at == '"' || *at == '\'' ||
        (*at == '/' && (after_return || strchr("(,=:[!&|?{};>\n", last_of(before))))) {
        return quoted_end(at, end);
    }
    return at;
}

/* Whether a blank between two characters means nothing. Two signs may be one beside each other. */
static bool is_blank_useless(char before, char after)
{
    static const char signs[] = "{}()[],;:?=<>&|!*%+-\n";

    return strchr("+-", before) && strchr("+-", after)
               ? false
               : strchr(signs, before) || strchr(signs, after);
}

/* Adds code without the blanks that mean nothing, and without the types in it, which are comments
 * with two stars. */
static void append_code(text *script, const char *code, size_t length)
{
    const char *end = code + length;

    while (code < end) {
        const char *next = literal_end(code, end, script);

        if (begins(code, "/** ")) {
            const char *close = memmem(code, (size_t)(end - code), "*/ ", 3);
            code = close ? close + 3 : end;
        } else if (next > code) {
            append(script, code, (size_t)(next - code));
            code = next;
        } else if (*code == ' ' && is_blank_useless(last_of(script), code[1])) {
            code++;
        } else {
            append(script, code++, 1);
        }
    }
}

/* Adds a line of code without what only its reader needs. Every statement has its semicolon, so
 * that a line may follow where one ends. */
static void append_line(text *script, const char *module, const char *line, size_t length,
                        bool *in_comment)
{
    static const char word[] = "export ";
    size_t blanks = strspn(line, " ");

    if (blanks >= length || is_comment(line + blanks, length - blanks, in_comment)) {
        if (begins(line + blanks, "/**") && memmem(line, length - 2, "*/", 2)) {
            die("%s: expected a comment alone in its line, found %.*s", module, (int)length, line);
        }
        return;
    }
    check_line(module, line + blanks, length - blanks);
    if (begins(line, word)) {
        blanks = sizeof word - 1;
    }
    append_code(script, line + blanks, length - blanks);
    if (!strchr("{}(,;", line[length - 1])) {
        append(script, "\n", 1);
    }
}

/* Adds a module after those that it imports. */
static void add_module(assembly *a, const char *name)
{
    int index = a->count++;
    text content = read_file(a->folder, name), own = {0};
    bool in_comment = false;

    if (a->count > MAX_MODULES) {
        die("more than %d modules", MAX_MODULES);
    }
    a->names[index] = strdup(name);
    for (const char *line = content.data; *line;) {
        size_t length = strcspn(line, "\n");

        if (begins(line, "import ")) {
            follow_import(a, name, line, length);
        } else {
            append_line(&own, name, line, length, &in_comment);
        }
        line += length + (line[length] == '\n');
    }
    append(&a->script, own.data, own.length);
    a->done[index] = true;
    free(own.data);
    free(content.data);
}

/* ---- the page ---- */

static void append_base64(text *to, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i += BASE64_BYTES) {
        char digits[BASE64_DIGITS];
        base64_group(data + i, length - i, digits);
        append(to, digits, sizeof digits);
    }
}

static void append_hash(text *policy, const char *directive, const text *content)
{
    uint8_t digest[SHA256_BYTES];

    sha256(content->data, content->length, digest);
    append(policy, directive, strlen(directive));
    append(policy, " 'sha256-", 9);
    append_base64(policy, digest, sizeof digest);
    append(policy, "'; ", 3);
}

static text make_policy(const text *script, const text *style)
{
    static const char first[] = "default-src 'none'; ";
    static const char last[] = "connect-src 'self'; img-src data: blob:; base-uri 'none'; "
                               "form-action 'none'";
    text policy = {0};

    append(&policy, first, sizeof first - 1);
    append_hash(&policy, "script-src", script);
    append_hash(&policy, "style-src", style);
    append(&policy, last, sizeof last - 1);
    return policy;
}

/* Appends the page up to a place, and then what belongs there. Returns the rest of the page. */
static const char *fill(text *out, const char *page, const char *place, const text *content)
{
    const char *at = strstr(page, place);

    if (!at) {
        die("page.html: expected the place %s, found none", place);
    }
    append(out, page, (size_t)(at - page));
    append(out, content->data, content->length);
    return at + strlen(place);
}

static void refuse_end_tag(const char *what, const text *content, const char *tag)
{
    if (strstr(content->data, tag)) {
        die("%s: it has the text %s, which would end it", what, tag);
    }
}

static void write_file(const char *path, const text *content)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(content->data, 1, content->length, file) != content->length ||
        fclose(file) != 0) {
        die("cannot write %s", path);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        die("usage: assemble FOLDER OUT");
    }
    assembly a = {.folder = argv[1]};
    add_module(&a, MAIN_MODULE);
    text style = read_file(a.folder, "page.css"), page = read_file(a.folder, "page.html"),
         out = {0};
    refuse_end_tag("the script", &a.script, "</script");
    refuse_end_tag("the script", &a.script, "</body");
    refuse_end_tag("the style", &style, "</style");

    text policy = make_policy(&a.script, &style);
    const char *rest = fill(&out, page.data, PLACE_OF_POLICY, &policy);
    rest = fill(&out, rest, PLACE_OF_STYLE, &style);
    rest = fill(&out, rest, PLACE_OF_SCRIPT, &a.script);
    append(&out, rest, strlen(rest));
    write_file(argv[2], &out);
    free(style.data);
    free(page.data);
    free(policy.data);
    free(out.data);
    free(a.script.data);
    for (int i = 0; i < a.count; i++) {
        free(a.names[i]);
    }
    return 0;
}
