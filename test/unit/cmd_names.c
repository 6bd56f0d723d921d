/* SPDX-License-Identifier: MIT
 *
 * cmd_names.c: short names of C++ and Rust symbols, and regular expressions over names.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/message.h"
#include "base/regex.h"
#include "names/demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    const char *symbol, *expected;
};

static char *name_in_mode(const char *symbol, cp_demangle_mode mode)
{
    char *name;

    cp_demangle(&symbol, 1, mode, &name);
    return name;
}

static char *short_name(const char *symbol)
{
    return name_in_mode(symbol, CP_DEMANGLE_SIMPLE);
}

static void expect_names(const struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *name = short_name(names[i].symbol);
        assert_string_equal(name, names[i].expected);
        free(name);
    }
}

#define EXPECT_NAMES(names) expect_names((names), sizeof(names) / sizeof *(names))

static void cplusplus_symbols_become_short(void **state)
{
    static const struct name names[] = {
        {"_ZN3foo3barEv", "foo::bar"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
        {"_ZSt4sortIPiEvT_S1_", "std::sort"},
        {"_Z3fooi.isra.0", "foo"},
        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
        {"_ZlsRSoRK1A", "operator<<"},
        {"_ZltRK1AS1_", "operator<"},
        {"_ZNK1AltIiEEbT_", "A::operator<"},
        {"_ZNK1AptEv", "A::operator->"},
        {"_ZN1AcvbEv", "A::operator bool"},
        {"_ZTV1A", "vtable for A"},
        {"_ZThn8_N1B1fEv", "non-virtual thunk to B::f()"}, /* as pprof has it */
        {"_ZN1AIXgtLi3ELi2EEE1fEv", "A::f"},               /* A<(3>2)>::f */
    };

    (void)state;
    EXPECT_NAMES(names);
}

static void rust_symbols_lose_their_hash(void **state)
{
    static const struct name names[] = {
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write"},
        {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17hc2f8e0a1b3d49567E",
         "std::rt::lang_start::{{closure}}"},
        {"_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h8fb0aa33c4d5e617E",
         "<T as core::convert::Into<U>>::into"},
        {"_RNvNtCs1234_7mycrate3bar3baz", "mycrate::bar::baz"},
        {"_RNvCs15kBYyAo9fc_7mycrate3foo.llvm.9", "mycrate::foo"},
    };

    (void)state;
    EXPECT_NAMES(names);
}

static void other_names_stay(void **state)
{
    static const struct name names[] = {
        {"main", "main"},
        {"", ""},
        {"_Znonsense", "_Znonsense"},
        {"_R", "_R"},
        {"__libc_start_main", "__libc_start_main"},
        {"sync.(*Mutex).Lock", "sync.(*Mutex).Lock"},
        {"github.com/x/y.(*T[...]).Do", "github.com/x/y.(*T[...]).Do"},
        {"Foo.<init>", "Foo.<init>"},
    };

    (void)state;
    EXPECT_NAMES(names);
}

static void full_names_are_shortened(void **state)
{
    static const struct name names[] = {
        {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"},
        {"void f<int>(int)", "void f"},
        {"a::b(c(*)(d))", "a::b"},
        {"a::operator>(b)", "a::operator>"},
    };

    (void)state;
    EXPECT_NAMES(names);
}

static void modes_show_more_of_a_name(void **state)
{
    static const struct {
        const char *symbol, *simple, *templates, *full;
    } names[] = {
        {"_ZN3app3hotIdEET_S1_", "app::hot", "app::hot<double>", "double app::hot<double>(double)"},
        {"_ZN3app6worker3runEi", "app::worker::run", "app::worker::run", "app::worker::run(int)"},
        {"_Z3fooi.isra.0", "foo", "foo", "foo(int)"},
        {"a::b<c>(d)", "a::b", "a::b<c>", "a::b<c>(d)"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "core::fmt::write",
         "core::fmt::write"},
        {"[libc.so.6]+0x271d0", "[libc.so.6]+0x271d0", "[libc.so.6]+0x271d0",
         "[libc.so.6]+0x271d0"},
        {"main", "main", "main", "main"},
        {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<>", "std::mem::align_of::<f64>",
         "std::mem::align_of::<f64>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_rust = strncmp(names[i].symbol, "_R", 2) == 0;
        const char *expected[] = {names[i].simple, is_rust ? names[i].full : names[i].simple,
                                  names[i].templates, names[i].full, names[i].symbol};
        for (int mode = CP_DEMANGLE_SIMPLE; mode <= CP_DEMANGLE_NONE; mode++) {
            char *name = name_in_mode(names[i].symbol, (cp_demangle_mode)mode);
            assert_string_equal(name, expected[mode]);
            free(name);
        }
    }
}

static void modes_have_names(void **state)
{
    cp_demangle_mode mode = CP_DEMANGLE_NONE;

    (void)state;
    assert_int_equal(cp_demangle_mode_named("default", &mode), 0);
    assert_int_equal(mode, CP_DEMANGLE_SIMPLE);
    assert_int_equal(cp_demangle_mode_named("full", &mode), 0);
    assert_int_equal(mode, CP_DEMANGLE_FULL);
    assert_int_equal(cp_demangle_mode_named("", &mode), -1);
    assert_int_equal(mode, CP_DEMANGLE_FULL);
}

/* The nesting overflows the stack of a recursive reader without a bound. */
static void hostile_symbols_are_survived(void **state)
{
    enum { LENGTH = 200000 };
    char *symbol = malloc(LENGTH + 1);

    (void)state;
    memcpy(symbol, "_Z", 2);
    memset(symbol + 2, 'P', LENGTH - 2);
    symbol[LENGTH] = '\0';
    char *name = short_name(symbol);
    assert_non_null(name);
    free(name);
    memcpy(symbol, "::", 2);
    memset(symbol + 2, '<', LENGTH - 2);
    name = short_name(symbol);
    assert_non_null(name);
    free(name);
    free(symbol);
}

enum { SYMBOL_BYTES = 1024 };

/*
 * A digit of the numbers in C++ (base 36) and Rust (base 62) symbols that refer to an earlier part.
 */
static char digit(unsigned value)
{
    return "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[value];
}

/* f<A, B, C, ...>: each argument is a function type that has the argument before it twice. */
static void put_doubling_cxx(char *symbol, unsigned doublings)
{
    char *at = stpcpy(symbol, "_Z1fIFvicE");

    for (unsigned i = 0; i < doublings; i++) {
        char number = (char)toupper(digit(i));
        at += sprintf(at, "FvS%c_S%c_E", number, number);
    }
    strcpy(at, "EvvE");
}

/* f<A, B, C, ...>: `first` is a tuple, and each other argument a tuple with the argument before it
 * twice. A number is an offset after "_R", less one. */
static void put_doubling_rust(char *symbol, const char *first, unsigned doublings)
{
    char *at = stpcpy(symbol, "_RINvC1a1f");
    char *last = at;

    at = stpcpy(at, first);
    for (unsigned i = 0; i < doublings; i++) {
        unsigned offset = (unsigned)(last - symbol) - 2 - 1;
        char number[3] = {digit(offset / 62), digit(offset % 62), '\0'};

        last = at;
        at += sprintf(at, "TB%s_B%s_E", number + (offset < 62), number + (offset < 62));
    }
    strcpy(at, "E");
}

static void expect_mode_keeps(const char *symbol, cp_demangle_mode mode)
{
    char *name = name_in_mode(symbol, mode);

    assert_string_equal(name, symbol);
    free(name);
}

static void expect_every_mode_keeps(const char *symbol)
{
    for (cp_demangle_mode mode = CP_DEMANGLE_SIMPLE; mode <= CP_DEMANGLE_FULL; mode++) {
        expect_mode_keeps(symbol, mode);
    }
}

static void expect_change(const char *symbol)
{
    char *name = short_name(symbol);
    assert_string_not_equal(name, symbol);
    free(name);
}

/* With few doublings the symbols are read: they are well formed. */
static void symbols_of_too_much_text_stay(void **state)
{
    static const char *const tuples[] = {"TiiE", "TNtC1au8gdel_5qaiE"};
    char symbol[SYMBOL_BYTES];

    (void)state;
    put_doubling_cxx(symbol, 5);
    expect_change(symbol);
    put_doubling_cxx(symbol, 20);
    expect_every_mode_keeps(symbol);
    for (size_t i = 0; i < sizeof tuples / sizeof *tuples; i++) {
        put_doubling_rust(symbol, tuples[i], 5);
        expect_change(symbol);
        put_doubling_rust(symbol, tuples[i], 20);
        expect_mode_keeps(symbol, CP_DEMANGLE_TEMPLATES);
        expect_mode_keeps(symbol, CP_DEMANGLE_FULL);
    }
}

static void long_symbols_stay(void **state)
{
    enum { LENGTH = 100000 };
    char *symbol = malloc(LENGTH + 1);

    (void)state;
    assert_non_null(symbol);
    strcpy(symbol, "_RNvC1a");
    sprintf(symbol + strlen(symbol), "%d_", LENGTH - 14);
    memset(symbol + 13, 'f', LENGTH - 13);
    symbol[LENGTH] = '\0';
    expect_every_mode_keeps(symbol);
    free(symbol);
}

/* c++filt reads the text after each T_ twice: as arguments of T_, and as those of the operator. */
static void symbols_that_take_too_long_stay(void **state)
{
    char symbol[SYMBOL_BYTES];
    char *at = stpcpy(symbol, "_ZN1Acv");

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        at = stpcpy(at, "T_I");
    }
    strcpy(at, "i");
    expect_every_mode_keeps(symbol);
}

/* More symbols than one run of c++filt takes, and a name among them that it does not get. */
static void each_symbol_has_its_own_name(void **state)
{
    enum { COUNT = 2500, LINES = 1234 };
    static char symbols[COUNT][24];
    const char *all[COUNT];
    char *names[COUNT], expected[24];

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        sprintf(symbols[i], i == LINES ? "_Z2a\nv" : "_Z5f%04uIiEvv", i);
        all[i] = symbols[i];
    }
    cp_demangle(all, COUNT, CP_DEMANGLE_TEMPLATES, names);
    for (unsigned i = 0; i < COUNT; i++) {
        sprintf(expected, i == LINES ? "_Z2a\nv" : "f%04u<int>", i);
        assert_string_equal(names[i], expected);
        free(names[i]);
    }
}

static bool matches(const char *pattern, const char *text)
{
    cp_error error;
    cp_regex *regex = cp_regex_compile(pattern, &error);

    if (!regex) {
        fail_msg("%s", error.text);
    }
    bool result = cp_regex_match(regex, text, strlen(text));
    cp_regex_free(regex);
    return result;
}

static void expressions_match_as_in_pprof(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"hog1", "main.hog1", true},
        {"^hog1", "main.hog1", false},
        {"hog\\d$", "main.hog1", true},
        {"hog$", "hog\n", false},
        {"(?i)HOG", "main.hog1", true},
        {"a.*?b|c", "xxc", true},
        {"[[:alpha:]]+_[^a-z]", "f_1", true},
        {"\\bmain\\b", "a main b", true},
        {"\\bmain\\b", "domain", false},
        {"(?P<name>x)+", "xx", true},
        {"a{2,3}", "aa", true},
        {"a.b", "a\nb", false},
        {"(?s)a.b", "a\nb", true},
        {"\\pL", "\xc3\xa9", true},
        {"^.$", "\xc3\xa9", true},
        {"x", "\xff\xfex", true}, /* not UTF-8 */
        {"\\Qa.b\\E", "axb", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (matches(cases[i].pattern, cases[i].text) != cases[i].matches) {
            fail_msg("%s on %s", cases[i].pattern, cases[i].text);
        }
    }
}

static void invalid_expressions_show_the_place(void **state)
{
    (void)state;
    cp_error error;
    assert_null(cp_regex_compile("ab(cd", &error));
    assert_non_null(strstr(error.text, "position 5\n  ab(cd\n       ^"));
    assert_null(cp_regex_compile("a**", &error));
    assert_null(cp_regex_compile("[z-a]", &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cplusplus_symbols_become_short),
        cmocka_unit_test(rust_symbols_lose_their_hash),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(full_names_are_shortened),
        cmocka_unit_test(modes_show_more_of_a_name),
        cmocka_unit_test(modes_have_names),
        cmocka_unit_test(hostile_symbols_are_survived),
        cmocka_unit_test(expressions_match_as_in_pprof),
        cmocka_unit_test(invalid_expressions_show_the_place),
        cmocka_unit_test(symbols_of_too_much_text_stay),
        cmocka_unit_test(long_symbols_stay),
        cmocka_unit_test(symbols_that_take_too_long_stay),
        cmocka_unit_test(each_symbol_has_its_own_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
