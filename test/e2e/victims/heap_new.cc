/* SPDX-License-Identifier: MIT
 *
 * heap_new.cc: operator new and delete in every form: what is too large, the new handler, nothrow,
 * alignment, sized delete. Prints what happened.
 * Flags: -std=c++17 -fsized-deallocation -fno-builtin -Wno-alloc-size-larger-than
 */
#include <cstdint>
#include <cstdio>
#include <new>

static int calls;

static void give_up_the_third_time()
{
    if (++calls == 3) {
        throw std::bad_alloc();
    }
}

template <typename Function> static void attempt(const char *what, Function allocate)
{
    calls = 0;
    bool thrown = false;
    void *block = nullptr;
    try {
        block = allocate();
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    printf("%s: block %d thrown %d handler %d\n", what, block != nullptr, thrown, calls);
}

static void ask_too_much(size_t huge)
{
    const std::align_val_t align{64};
    attempt("new", [&] { return ::operator new(huge); });
    attempt("new[]", [&] { return ::operator new[](huge); });
    attempt("nothrow", [&] { return ::operator new(huge, std::nothrow); });
    attempt("nothrow[]", [&] { return ::operator new[](huge, std::nothrow); });
    attempt("aligned", [&] { return ::operator new(huge, align); });
    attempt("aligned[]", [&] { return ::operator new[](huge, align); });
    attempt("aligned nothrow", [&] { return ::operator new(huge, align, std::nothrow); });
    attempt("aligned nothrow[]", [&] { return ::operator new[](huge, align, std::nothrow); });
}

static int misaligned;

static void *check(void *block, size_t alignment)
{
    misaligned += (uintptr_t)block % alignment != 0;
    *(volatile char *)block = 1;
    return block;
}

static void use_every_form(size_t n)
{
    const std::align_val_t align{128};
    ::operator delete(check(::operator new(n), 16));
    ::operator delete(check(::operator new(n), 16), n);
    ::operator delete[](check(::operator new[](n), 16));
    ::operator delete[](check(::operator new[](n), 16), n);
    ::operator delete(check(::operator new(n, std::nothrow), 16), std::nothrow);
    ::operator delete[](check(::operator new[](n, std::nothrow), 16), std::nothrow);
    ::operator delete(check(::operator new(n, align), 128), align);
    ::operator delete(check(::operator new(n, align), 128), n, align);
    ::operator delete[](check(::operator new[](n, align), 128), align);
    ::operator delete[](check(::operator new[](n, align), 128), n, align);
    ::operator delete(check(::operator new(n, align, std::nothrow), 128), align, std::nothrow);
    ::operator delete[](check(::operator new[](n, align, std::nothrow), 128), align, std::nothrow);
}

int main(int argc, char **)
{
    volatile size_t huge = (size_t)1 << 62;
    if (argc == 1) { /* mimalloc aborts */
        ask_too_much(huge);
        std::set_new_handler(give_up_the_third_time);
        ask_too_much(huge);
    }
    for (size_t n = 16; n < 3000; n++) {
        use_every_form(n);
    }
    printf("misaligned %d\n", misaligned);
    ::operator delete(nullptr);
    ::operator delete[](nullptr, (size_t)8);
    puts("end");
    return 0;
}
