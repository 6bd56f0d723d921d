/* SPDX-License-Identifier: MIT
 *
 * explained.c: stacks that nobody can walk to their end, each for another reason. A thread of its
 * name waits under each function; with the argument "compute" the first thread computes under each.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void work(void);

#if defined(__x86_64__)
#define ENTER           "push %rbp\nsub $16, %rsp\n"
#define CALL            "xor %ebp, %ebp\ncall *%rdi\n"
#define LEAVE           "add $16, %rsp\npop %rbp\nret\n"
#define LEAVE_STRANGELY "add $16, %rsp\npop %rbp\npop %rcx\njmp *%rcx\n"
#define LOST            ".cfi_def_cfa r12, 16\n"
#define FAR             ".cfi_def_cfa rsp, 0x7fffff00\n"
#define BELOW           ".cfi_def_cfa rsp, -128\n"
static const unsigned char code[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0x31, 0xed, 0xff,
                                     0xd7, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
#elif defined(__aarch64__)
#define ENTER           "stp x29, x30, [sp, #-32]!\n"
#define CALL            "mov x29, xzr\nblr x0\n"
#define LEAVE           "ldp x29, x30, [sp], #32\nret\n"
#define LEAVE_STRANGELY "ldp x29, x9, [sp], #32\nbr x9\n"
#define LOST            ".cfi_def_cfa x20, 16\n.cfi_offset x30, -8\n"
#define FAR             ".cfi_def_cfa sp, 0x7fffff00\n.cfi_offset x30, -8\n"
#define BELOW           ".cfi_def_cfa sp, -128\n.cfi_offset x30, -8\n"
static const unsigned code[] = {0xa9be7bfd, 0xaa1f03fd, 0xd63f0000, 0xa8c27bfd, 0xd65f03c0};
#endif

/* A function that calls its argument, without a frame pointer. `rule` is what its call-frame
 * information says of the call, between `begin` and `end`. */
#define FUNCTION(name, begin, rule, leave, end)                                                    \
    __asm__(".text\n.p2align 4\n.type " #name ", @function\n" #name                                \
            ":\n" begin ENTER rule CALL leave end ".size " #name ", . - " #name "\n");             \
    void name(work *argument)

/* Without call-frame information; its instructions do not say where it returns to either. */
FUNCTION(bare, "", "", LEAVE_STRANGELY, "");
FUNCTION(lost, ".cfi_startproc\n", LOST, LEAVE, ".cfi_endproc\n");
FUNCTION(far, ".cfi_startproc\n", FAR, LEAVE, ".cfi_endproc\n");
FUNCTION(below, ".cfi_startproc\n", BELOW, LEAVE, ".cfi_endproc\n");

static void generated(work *argument)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*function)(work * argument);
    memcpy(page, code, sizeof code); /* ENTER CALL LEAVE */
    __builtin___clear_cache(page, (char *)page + sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    memcpy(&function, &page, sizeof function);
    function(argument);
}

static const struct {
    const char *name;
    void (*function)(work *argument);
} all[] = {
    {"bare", bare}, {"lost", lost}, {"far", far}, {"below", below}, {"generated", generated}};

enum { COUNT = sizeof all / sizeof *all };

static pthread_barrier_t all_wait;

static void waits(void)
{
    pthread_barrier_wait(&all_wait);
    for (;;)
        pause();
}

static void computes(void)
{
    static volatile unsigned long turns;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + 100;
    do {
        for (int i = 0; i < 100000; i++)
            turns++;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
}

static void *be(void *index)
{
    size_t i = (size_t)index;
    pthread_setname_np(pthread_self(), all[i].name);
    all[i].function(waits);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && strcmp(argv[1], "compute") == 0) {
        for (size_t i = 0; i < COUNT; i++)
            all[i].function(computes);
        return 0;
    }
    pthread_barrier_init(&all_wait, NULL, COUNT + 1);
    for (size_t i = 0; i < COUNT; i++)
        pthread_create(&thread, NULL, be, (void *)i);
    pthread_barrier_wait(&all_wait);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
