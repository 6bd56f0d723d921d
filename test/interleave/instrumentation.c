/* SPDX-License-Identifier: MIT
 *
 * instrumentation.c: what -fsanitize=thread makes of the code under test: a call before each plain
 * access, and one in the place of each atomic operation. The names are the compiler's (gcc, clang).
 */
#include "interleave/explorer.h"
#include "interleave/memory.h"

#include <string.h>

/* ---- plain accesses ---- */

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(const void *at, size_t size);
void __tsan_write_range(void *at, size_t size);
void __tsan_vptr_update(void **at, void *value);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(const void *at, size_t size)
{
    memory_access((uintptr_t)at, size, false);
}

void __tsan_write_range(void *at, size_t size)
{
    memory_access((uintptr_t)at, size, true);
}

#define PLAIN(name, size, is_write)                                                                \
    void name(void *at);                                                                           \
    void name(void *at)                                                                            \
    {                                                                                              \
        memory_access((uintptr_t)at, size, is_write);                                              \
    }

PLAIN(__tsan_read1, 1, false)
PLAIN(__tsan_read2, 2, false)
PLAIN(__tsan_read4, 4, false)
PLAIN(__tsan_read8, 8, false)
PLAIN(__tsan_read16, 16, false)
PLAIN(__tsan_unaligned_read2, 2, false)
PLAIN(__tsan_unaligned_read4, 4, false)
PLAIN(__tsan_unaligned_read8, 8, false)
PLAIN(__tsan_unaligned_read16, 16, false)
PLAIN(__tsan_write1, 1, true)
PLAIN(__tsan_write2, 2, true)
PLAIN(__tsan_write4, 4, true)
PLAIN(__tsan_write8, 8, true)
PLAIN(__tsan_write16, 16, true)
PLAIN(__tsan_unaligned_write2, 2, true)
PLAIN(__tsan_unaligned_write4, 4, true)
PLAIN(__tsan_unaligned_write8, 8, true)
PLAIN(__tsan_unaligned_write16, 16, true)

void *model_memcpy(void *to, const void *from, size_t bytes)
{
    memory_access((uintptr_t)from, bytes, false);
    memory_access((uintptr_t)to, bytes, true);
    return memcpy(to, from, bytes);
}

void *model_memmove(void *to, const void *from, size_t bytes)
{
    memory_access((uintptr_t)from, bytes, false);
    memory_access((uintptr_t)to, bytes, true);
    return memmove(to, from, bytes);
}

void *model_memset(void *to, int value, size_t bytes)
{
    memory_access((uintptr_t)to, bytes, true);
    return memset(to, value, bytes);
}

int model_memcmp(const void *a, const void *b, size_t bytes)
{
    memory_access((uintptr_t)a, bytes, false);
    memory_access((uintptr_t)b, bytes, false);
    return memcmp(a, b, bytes);
}

/* ---- atomic operations ---- */

static uint64_t exchange(uint64_t value, uint64_t operand)
{
    (void)value;
    return operand;
}

static uint64_t add(uint64_t value, uint64_t operand)
{
    return value + operand;
}

static uint64_t subtract(uint64_t value, uint64_t operand)
{
    return value - operand;
}

static uint64_t bit_and(uint64_t value, uint64_t operand)
{
    return value & operand;
}

static uint64_t bit_or(uint64_t value, uint64_t operand)
{
    return value | operand;
}

static uint64_t bit_xor(uint64_t value, uint64_t operand)
{
    return value ^ operand;
}

#define MODIFY(bits, name, change)                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile void *at, uint##bits##_t operand,         \
                                                int order);                                        \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile void *at, uint##bits##_t operand,         \
                                                int order)                                         \
    {                                                                                              \
        return (uint##bits##_t)memory_modify((uintptr_t)at, bits / 8, change, operand, order);     \
    }

#define COMPARE_EXCHANGE(bits, name)                                                               \
    bool __tsan_atomic##bits##_compare_exchange_##name(                                            \
        volatile void *at, void *expected, uint##bits##_t desired, int order, int failure_order);  \
    bool __tsan_atomic##bits##_compare_exchange_##name(                                            \
        volatile void *at, void *expected, uint##bits##_t desired, int order, int failure_order)   \
    {                                                                                              \
        uint64_t value = *(uint##bits##_t *)expected;                                              \
        bool done = memory_compare_exchange((uintptr_t)at, bits / 8, &value, desired, order,       \
                                            failure_order);                                        \
        *(uint##bits##_t *)expected = (uint##bits##_t)value;                                       \
        return done;                                                                               \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order);                 \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order)                  \
    {                                                                                              \
        return (uint##bits##_t)memory_load((uintptr_t)at, bits / 8, order);                        \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t value, int order);          \
    void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t value, int order)           \
    {                                                                                              \
        memory_store((uintptr_t)at, bits / 8, value, order);                                       \
    }                                                                                              \
    MODIFY(bits, exchange, exchange)                                                               \
    MODIFY(bits, fetch_add, add)                                                                   \
    MODIFY(bits, fetch_sub, subtract)                                                              \
    MODIFY(bits, fetch_and, bit_and)                                                               \
    MODIFY(bits, fetch_or, bit_or)                                                                 \
    MODIFY(bits, fetch_xor, bit_xor)                                                               \
    COMPARE_EXCHANGE(bits, strong)                                                                 \
    COMPARE_EXCHANGE(bits, weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_signal_fence(int order);

void model_fence(int order)
{
    memory_fence(order);
}

/* Coroutines have no signals. */
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
