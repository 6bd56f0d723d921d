/* SPDX-License-Identifier: MIT
 *
 * heap_new_left.cc: operator new is left by an exception on a stack that is unmapped then, and
 * memory is allocated on a stack below it.
 * Flags: -fno-builtin -Wno-alloc-size-larger-than
 */
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t main_context, coroutine;
static int thrown;

static void leave_new()
{
    volatile size_t huge = (size_t)1 << 62;
    for (int i = 0; i < 3; i++) {
        try {
            ::operator delete(::operator new(huge));
        } catch (const std::bad_alloc &) {
            thrown++;
        }
    }
}

static void allocate()
{
    for (size_t i = 1; i < 100; i++) {
        void *volatile block = malloc(i * 100);
        free(block);
    }
}

static void run_on(char *stack, size_t size, void (*body)())
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = size;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, body, 0);
    swapcontext(&main_context, &coroutine);
}

int main()
{
    const size_t size = 1 << 16;
    void *memory =
        mmap(nullptr, 3 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return 1;
    }
    char *low = static_cast<char *>(memory);
    run_on(low + 2 * size, size, leave_new);
    munmap(low + 2 * size, size);
    run_on(low, size, allocate);
    printf("thrown %d\n", thrown);
    return 0;
}
