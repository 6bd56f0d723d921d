/* SPDX-License-Identifier: MIT
 *
 * heap_early.c: reads the rate of sampling from LIBPPROF when the program's first allocation comes
 * before our constructor.
 *
 * C++ libraries allocate in their constructors, most of which run before ours. This file reads only
 * a rate that LIBPPROF states; our constructor (api/preload.c) reads everything else.
 *
 * Zone: HOOK.
 * Tested by: unit.options, e2e.heap
 */
#include "kinds/heap/heap_early.h"

#include "kinds/heap/heap.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char variable[] = "LIBPPROF=";
static const char *const words[] = {"heap", "leak", "lifetime"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pp_heap_rate_of_text(const char *text, size_t length, int64_t *rate)
{
    static const struct {
        char letter;
        unsigned shift;
    } units[] = {{'k', 10}, {'m', 20}, {'g', 30}, {'K', 10}, {'M', 20}, {'G', 30}};
    int64_t number = 0;
    size_t at = 0;
    if (length == 0) {
        *rate = PP_HEAP_RATE_DEFAULT;
        return true;
    }
    for (; at < length && is_digit(text[at]); at++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text[at] - '0', &number)) {
            return false;
        }
    }
    unsigned shift = 0;
    for (size_t i = 0; at > 0 && at + 1 == length && i < sizeof units / sizeof *units; i++) {
        if (units[i].letter == text[at]) {
            shift = units[i].shift;
            at++;
            break;
        }
    }
    if (at != length || number > INT64_MAX >> shift) {
        return false;
    }
    *rate = number << shift;
    return true;
}

/* Sets the rate if the option is heap, heap:BYTES or heap=BYTES, or the same of the others. One without a
 * value leaves that of another. */
static void take_option(const char *option, size_t length, int64_t *rate)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t name = strlen(words[i]);
        if (length < name || strncmp(option, words[i], name) != 0) {
            continue;
        }
        bool value = length > name && (option[name] == ':' || option[name] == '=');
        size_t skip = name + value;
        if ((length == name && *rate == 0) || (value && length > skip)) {
            pp_heap_rate_of_text(option + skip, length - skip, rate);
        }
    }
}

/* Returns 0 if the list has none of them. */
static int64_t rate_in_list(const char *list)
{
    int64_t rate = 0;
    while (*list != '\0') {
        size_t length = 0;
        while (list[length] != '\0' && list[length] != ',') {
            length++;
        }
        take_option(list, length, &rate);
        list += length + (list[length] == ',');
    }
    return rate;
}

bool pp_heap_first_rate(int64_t *rate)
{
    if (environ == NULL || getauxval(AT_SECURE) != 0) {
        return false;
    }
    for (char **at = environ; *at != NULL; at++) {
        if (strncmp(*at, variable, sizeof variable - 1) == 0) {
            *rate = rate_in_list(*at + sizeof variable - 1);
            return true;
        }
    }
    return false;
}
