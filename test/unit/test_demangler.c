/* SPDX-License-Identifier: MIT
 *
 * test_demangler.c: what becomes of symbols' names, and what hostile ones may cost.
 *
 * Where Go's tool reads the name, what is expected is what it shows (1.26; test/e2e/test_names.sh
 * asks it).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "demangle/cxx.h"
#include "demangle/demangler.h"
#include "other_stack.h"

static pp_arena arena = PP_ARENA_INIT;
static pp_demangler demangler;

typedef struct pair {
    const char *symbol, *name;
} pair;

static void check(const pair *pairs, size_t count)
{
    demangler = pp_demangler_begin(&arena);
    for (size_t i = 0; i < count; i++) {
        const char *name = pp_demangle(&demangler, pairs[i].symbol);
        if (strcmp(name, pairs[i].name) != 0)
            fail_msg("%s: expected \"%s\", found \"%s\"", pairs[i].symbol, pairs[i].name, name);
    }
    pp_arena_release(&arena);
}

#define CHECK(...)                                                                                 \
    check((const pair[]){__VA_ARGS__}, sizeof((const pair[]){__VA_ARGS__}) / sizeof(pair))

static void names_that_are_not_mangled_stay(void **state)
{
    (void)state;
    CHECK({"main", "main"}, {"", ""}, {"_", "_"}, {"_start", "_start"}, {"_Z", "_Z"}, {"_R", "_R"},
          {"_Zebra", "_Zebra"}, {"_Really", "_Really"}, {"_ZN", "_ZN"}, {"_ZN3", "_ZN3"},
          {"_ZN3fo", "_ZN3fo"}, {"_Z3fo", "_Z3fo"}, {"_ZN3fooE3", "foo"}, {"std::x", "std::x"},
          {"_ZNSt3fooC", "_ZNSt3fooC"}, {"_ZNS0_3fooE", "_ZNS0_3fooE"}, {"_Z0", "_Z0"},
          {"_ZGVbN2v_sin", "_ZGVbN2v_sin"}, {"main.main", "main.main"});
}

static void a_name_has_one_line(void **state)
{
    (void)state;
    CHECK({"a\nb", "a?b"}, {"_Z3a\nb", "_Z3a?b"}, {"_Z3a\1\1", "_Z3a??"}, {"\x7f", "?"},
          {"\xc3\xa4", "\xc3\xa4"});
}

static void functions(void **state)
{
    (void)state;
    CHECK({"_Z3fooi", "foo"}, {"_ZL3foov", "foo"}, {"_ZN1a1b3fooEv", "a::b::foo"},
          {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
          {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv",
           "std::__cxx11::basic_string::size"},
          {"_ZN12_GLOBAL__N_11A3runEv", "(anonymous namespace)::A::run"},
          {"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move"},
          {"_ZN1AB5cxx113fooB5cxx11Ev", "A[abi:cxx11]::foo[abi:cxx11]"},
          {"_Z4packIJiidEEDTfrplfp_EDpT_", "pack"}, {"_Z7nontypeILi3ELc99EEvv", "nontype"},
          {"_ZN1AIiE1fILi3EEEvv", "A::f"}, {"_ZW3foo3barv", "bar@foo"},
          {"_ZN1AF3fooEv", "A::friend foo"}, {"_ZN1ADC1a1bEE", "A::[a, b]"},
          {"_ZGTtNKSt11logic_error4whatEv", "transaction clone for std::logic_error::what() const"},
          {"_ZThn8_N1A3fooEi", "non-virtual thunk to A::foo(int)"},
          {"_ZTv0_n24_NK1A3fooEi", "virtual thunk to A::foo(int) const"},
          {"_ZTWN1A1xE", "TLS wrapper function for A::x"}, {"_ZTVN1AIiEE", "vtable for A"},
          {"_ZGVZ3foovE1x", "guard variable for foo()::x"});
}

static void what_compilers_append_is_left_out(void **state)
{
    (void)state;
    CHECK({"_Z1fv.cold", "f"}, {"_Z1fv.isra.0.part.1", "f"}, {"_ZL1fv.lto_priv.0", "f"},
          {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write"},
          {"_RNvNtC4core3fmt5write.llvm.123", "core::fmt::write"},
          {"c_function.cold", "c_function.cold"});
}

static void constructors_and_destructors(void **state)
{
    (void)state;
    CHECK({"_ZN1AC1Ev", "A::A"}, {"_ZN1AD0Ev", "A::~A"}, {"_ZN1AIiED2Ev", "A::~A"},
          {"_ZN1AB5cxx11C1Ev", "A[abi:cxx11]::A"}, {"_ZNSsC1Ev", "std::basic_string::basic_string"},
          {"_ZNSs6appendEPKc", "std::string::append"},
          {"_ZNSiD0Ev", "std::basic_istream::~basic_istream"}, {"_ZN1ACI11BEi", "A::A"},
          {"_ZZN1A3fooEiENUlvE_D1Ev", "A::foo()::{lambda()#1}::~{lambda()#1}"}, {"_ZC1v", "_ZC1v"});
}

static void operators(void **state)
{
    (void)state;
    CHECK({"_ZN1AnwEm", "A::operator new"}, {"_ZN1AdaEPv", "A::operator delete[]"},
          {"_Znwm", "operator new"}, {"_ZN1AclEv", "A::operator()"}, {"_ZN1AixEi", "A::operator[]"},
          {"_ZN1AltERKS_", "A::operator<"}, {"_ZN1AlsIiEEbT_", "A::operator<<"},
          {"_ZN1AssEi", "A::operator<=>"}, {"_ZN1ApmEi", "A::operator->*"},
          {"_ZN1AcmEi", "A::operator,"}, {"_ZN1AawEv", "A::operator co_await"},
          {"_ZN1AmmEi", "A::operator--"}, {"_Zli4_kibm", "operator\"\" _kib"},
          {"_ZN1Av23fooEv", "A::operator foo"}, {"_ZN1AqueEv", "_ZN1AqueEv"});
}

static void conversions(void **state)
{
    (void)state;
    CHECK({"_ZN1AcviEv", "A::operator int"}, {"_ZN1AcvPFivEEv", "A::operator int (*)()"},
          {"_ZN1AcvRA3_iEv", "A::operator int (&) [3]"},
          {"_ZN1AcvM1BKFivEEv", "A::operator int (B::*)() const"},
          {"_ZN1AcvM1BiEv", "A::operator int B::*"},
          {"_ZN1AcvPA3_A4_KiEv", "A::operator int const (*) [3][4]"},
          {"_ZN1AcvKVPKcEv", "A::operator char const* volatile const"},
          {"_ZN1AcvDnEv", "A::operator decltype(nullptr)"},
          {"_ZN1AcvPDoFivEEv", "A::operator int (*)() noexcept"},
          {"_ZN1AcvDv4_iEv", "A::operator int __vector(4)"},
          {"_ZN1AcvCfEv", "A::operator float _Complex"}, {"_ZN1AcvU3extiEv", "A::operator int ext"},
          {"_ZN1AcvDF16_Ev", "A::operator _Float16"}, {"_ZN1AcvDB8_Ev", "A::operator _BitInt(8)"},
          {"_ZN1AcvSt6vectorIiSaIiEEEv", "A::operator std::vector"},
          {"_ZNK1AIiEcvT_IdEEv", "A::operator double"},
          {"_ZN1AcvT_IPFivEEEv", "A::operator int (*)()"},
          {"_ZN1AcvPT_IPFivEEEv", "_ZN1AcvPT_IPFivEEEv"}, /* it would be int (**)() */
          {"_ZN1AcvT_Ev", "_ZN1AcvT_Ev"}, {"_ZN1AcvT0_IiEEv", "_ZN1AcvT0_IiEEv"},
          {"_ZN1AcvDTfp_EEv", "A::operator decltype(...)"});
}

static void lambdas_and_what_is_in_functions(void **state)
{
    (void)state;
    CHECK(
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
        {"_ZZL4coldiPcENKUlPFicERA3_iE_clES1_S3_",
         "cold()::{lambda(int (*)(char), int (&) [3])#1}::operator()"},
        {"_ZZZL4coldiPcENKUlPFicERA3_iE_clES1_S3_ENKUlvE_clEv",
         "cold()::{lambda(int (*)(char), int (&) [3])#1}::operator()() "
         "const::{lambda()#1}::operator()"},
        {"_ZZN1n1VIiEC4IdEERKT_PFiiEENKUlS3_PSt6vectorIiSaIiEEE_clIdEEDaS3_SB_",
         "n::V::V()::{lambda(auto:1, std::vector*)#1}::operator()"},
        {"_ZZN1A3fooEiENKUlDpT_E_clIJiiEEEDaS1_", "A::foo()::{lambda((auto:1)...)#1}::operator()"},
        {"_ZZ4mainENKUlTyTnjT_E_clIiLj2EEEDaS_",
         "main::{lambda<typename $T, unsigned int $N>($T)#1}::operator()"},
        {"_ZZ3foovENUt_3barEv", "foo()::{unnamed type#1}::bar"},
        {"_ZZ3foovEN1A3barEv_0", "foo()::A::bar"},
        {"_ZZ3fooiEd0_NKUlvE_clEv", "foo()::{default arg#2}::{lambda()#1}::operator()"},
        {"_ZN1xMUlvE_clEv", "x::{lambda()#1}::operator()"});
}

static void rust(void **state)
{
    (void)state;
    CHECK({"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
          {"_ZN4core3fmt5write17haaaaaaaaaaaaaaaaE", "core::fmt::write::haaaaaaaaaaaaaaaa"},
          {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
           "4drop17h0123456789abcdefE",
           "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
          {"_ZN1p8w$ue4$ch17h0123456789abcdefE", "p::w\u00e4ch"},
          {"_ZN1p10w$ue4$chst17h0123456789abcdefE", "p::w\u00e4chst"},
          {"_ZN1p5$ua$x17h0123456789abcdefE", "p::$ua$x"},
          {"_ZN1p5$uzz$17h0123456789abcdefE", "p::$uzz$"},
          {"_ZN1p8$ud800$x17h0123456789abcdefE", "p::$ud800$x"},
          {"_ZN1p3$XX17h0123456789abcdefE", "p::$XX"},
          {"_RNvNtC4core3fmt5write", "core::fmt::write"},
          {"_RINvNtC4core3mem4swaphE", "core::mem::swap::<>"},
          {"_RNvMNtC5alloc3vecINtB2_3VechE4push", "<alloc::vec::Vec<>>::push"},
          {"_RNvXC1aNtB2_1SNtB2_5Trait3run", "<a::S as a::Trait>::run"},
          {"_RNCNvC1a4main0", "a::main::{closure#0}"},
          {"_RNCNCNvC1a4main00", "a::main::{closure#0}::{closure#0}"},
          {"_RNvMC1aShNtB2_1x", "_RNvMC1aShNtB2_1x"}, {"_RNvMC1aSh1x", "<[u8]>::x"},
          {"_RNvMC1aAhj4_1x", "<[u8; 4]>::x"}, {"_RNvMC1aRQTlbE1x", "<&&mut (i32, bool)>::x"},
          {"_RNvMC1aTlE1x", "<(i32,)>::x"},
          {"_RNvMC1aFUKChEPu1x", "<unsafe extern \"C\" fn(u8) -> *const ()>::x"},
          {"_RNvMC1aDNtB2_1TEL_1x", "<dyn a::T>::x"},
          {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
           "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
           "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4"
           "\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"});
}

/* ---- hostile names ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { AROUND = 8 * 1024 }; /* AddressSanitizer's frames are large */
#else
enum { AROUND = 1024 }; /* what does not recurse */
#endif

enum { LONG = 60 * 1024, STACK_BYTES = 256 * 1024 };

static char hostile[LONG + 16];
static uint8_t *stack;

static void read_hostile(void)
{
    pp_demangle(&demangler, hostile);
}

/* How much stack the name takes. */
static size_t stack_for(const char *name)
{
    size_t untouched = 0;
    memset(stack, 0x5a, STACK_BYTES);
    snprintf(hostile, sizeof hostile, "%s", name);
    run_on_other_stack(stack + STACK_BYTES, read_hostile);
    while (stack[untouched] == 0x5a)
        untouched++;
    return STACK_BYTES - untouched;
}

static const char *repeated(const char *first, const char *again, const char *last)
{
    static char text[LONG];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", first);
    while (length + strlen(again) + strlen(last) < sizeof text)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", again);
    snprintf(text + length, sizeof text - length, "%s", last);
    return text;
}

/* Each nests without end, in another way; the stack that it takes has an end. */
static void deep_names_take_little_stack(void **state)
{
    (void)state;
    static const char *const deep[][3] = {
        {"_ZN1Acv", "P", "iEv"},   {"_ZN1Acv", "1AI", "iEv"},
        {"_ZN1Acv", "Fi", "iEv"},  {"_Z1fIX", "ad", "iEv"},
        {"_Z1fI", "J", "EE"},      {"_Z", "Z1fI", "i"},
        {"_ZN", "Ul", "E_E"},      {"_Z1fI", "LZ1fI", "i"},
        {"_Z1fI", "TtTp", "E"},    {"_Z1fI", "M1A", "i"},
        {"_Z1fI", "A_", "i"},      {"_Z1fIX", "rqX", "E"},
        {"_Z", "GTt", "1f"},       {"_Z1fI", "N1AI", "E"},
        {"_RNvMC1a", "R", "h1x"},  {"_RNvMC1a", "T", "hE1x"},
        {"_R", "Nv", "C1a"},       {"_RNvMC1a", "F", "hEu1x"},
        {"_RNvMC1a", "M", "h"},    {"_RNvMC1a", "DINtC1a1b", "h"},
        {"_RNvMC1a", "Y", "h"},    {"_ZN1Acv", "T_I", "iEv"},
        {"_ZN", "1AcvT_I", "iEv"}, {"_Z1fIX", "cvi", "iEv"},
    };
    stack = aligned_alloc(16, STACK_BYTES);
    for (size_t i = 0; i < 2 * sizeof deep / sizeof *deep; i++) {
        const char *const *parts = deep[i / 2];
        demangler = i % 2 != 0 ? pp_demangler_begin_small(&arena) : pp_demangler_begin(&arena);
        size_t taken = stack_for(repeated(parts[0], parts[1], parts[2]));
        if (taken > demangler.stack + AROUND)
            fail_msg("%s%s...%s takes %zu bytes of stack", parts[0], parts[1], parts[2], taken);
    }
    free(stack);
    pp_arena_release(&arena);
}

/* Twice as long with each of its parts: what the bounds of mangled.h are for. */
static void short_names_for_long_texts_stay(void **state)
{
    (void)state;
    char name[2048] = "_ZN1xcvPF1AIiE";
    for (int i = 0; i < 40; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "PFS%c_S%c_E",
                 "0123456789ABCDEFGHIJ"[i / 2], "0123456789ABCDEFGHIJ"[i / 2]);
    strcat(name, "EEv");
    char rust_name[2048] = "_RNvMC1aTThhE";
    for (int i = 0; i < 40; i++)
        snprintf(rust_name + strlen(rust_name), sizeof rust_name - strlen(rust_name), "TB6_B6_E");
    strcat(rust_name, "E1x");
    demangler = pp_demangler_begin(&arena);
    assert_true(strlen(pp_demangle(&demangler, name)) <= PP_MANGLED_TEXT);
    assert_true(strlen(pp_demangle(&demangler, rust_name)) <= PP_MANGLED_TEXT);
    assert_true(demangler.work->m.steps <= PP_MANGLED_STEPS + 1);
    pp_arena_release(&arena);
    CHECK({"_RNvMC1aTB6_B6_E1x", "_RNvMC1aTB6_B6_E1x"}, {"_RNvMC1aB7_1x", "_RNvMC1aB7_1x"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_not_mangled_stay),
        cmocka_unit_test(a_name_has_one_line),
        cmocka_unit_test(functions),
        cmocka_unit_test(what_compilers_append_is_left_out),
        cmocka_unit_test(constructors_and_destructors),
        cmocka_unit_test(operators),
        cmocka_unit_test(conversions),
        cmocka_unit_test(lambdas_and_what_is_in_functions),
        cmocka_unit_test(rust),
        cmocka_unit_test(deep_names_take_little_stack),
        cmocka_unit_test(short_names_for_long_texts_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
