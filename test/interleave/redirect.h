/* SPDX-License-Identifier: MIT
 *
 * redirect.h: included before anything else where code is compiled for the model.
 *
 * Tells the model in which function an atomic operation stands, so that a test can weaken it.
 * Copies of memory are made where the model sees them. A thread's variables lie in a section of
 * their own, which the model exchanges when another thread goes on.
 */
#ifndef PP_TEST_INTERLEAVE_REDIRECT_H
#define PP_TEST_INTERLEAVE_REDIRECT_H

#include "interleave/model.h"

#include "base/compiler.h"

#include <string.h>

#undef PP_RAW_MEMORY
#define PP_RAW_MEMORY
#undef PP_TLS
#define PP_TLS __attribute__((section("model_tls")))

#define memcpy(to, from, bytes)  model_memcpy(to, from, bytes)
#define memmove(to, from, bytes) model_memmove(to, from, bytes)
#define memset(to, value, bytes) model_memset(to, value, bytes)
#define memcmp(a, b, bytes)      model_memcmp(a, b, bytes)

/* A macro's own name is not expanded again. */
#define MODEL_SITE(operation) (model_at(__func__), operation)

#define __atomic_load_n(...)             MODEL_SITE(__atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...)            MODEL_SITE(__atomic_store_n(__VA_ARGS__))
#define __atomic_exchange_n(...)         MODEL_SITE(__atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) MODEL_SITE(__atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_add_fetch(...)          MODEL_SITE(__atomic_add_fetch(__VA_ARGS__))
#define __atomic_sub_fetch(...)          MODEL_SITE(__atomic_sub_fetch(__VA_ARGS__))
#define __atomic_and_fetch(...)          MODEL_SITE(__atomic_and_fetch(__VA_ARGS__))
#define __atomic_or_fetch(...)           MODEL_SITE(__atomic_or_fetch(__VA_ARGS__))
#define __atomic_fetch_add(...)          MODEL_SITE(__atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_and(...)          MODEL_SITE(__atomic_fetch_and(__VA_ARGS__))
#define __atomic_fetch_or(...)           MODEL_SITE(__atomic_fetch_or(__VA_ARGS__))
/* gcc warns of fences, which the sanitizer does not know. */
#define __atomic_thread_fence(order) MODEL_SITE(model_fence(order))

#endif
