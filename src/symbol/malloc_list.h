/* SPDX-License-Identifier: MIT
 *
 * malloc_list.h: lists every hooked function that allocates or frees, one line each.
 *
 *   X(NAME, SHAPE)
 *
 *   SHAPE       arguments                              the entry
 *   MALLOC      size                                   counts down, without the target
 *   REALLOC     block, size                            asks the filter and counts down, without it
 *   FREE        block                                  asks the filter, without the target
 *   ALLOC0      size ...                               as MALLOC, through the target
 *   ALLOC1      something, size ...                    likewise
 *   CALLOC      count, size                            likewise
 *   POSIX       where to, alignment, size; 0: success  likewise
 *   RESIZE      block, size ...                        as REALLOC, through the target
 *   IN_PLACE    block, size, extra, flags; new size    always takes the slow path
 *   CALLOC_IN   heap, count, size                      always takes the slow path
 *   RESIZE_IN   heap, block, size ...                  always takes the slow path
 *   RELEASE     block ...                              as FREE, through the target
 *   NEW         size ...                               as ALLOC0, or through malloc
 *   DELETE      block ...                              as RELEASE, or through free
 *
 * "Through the target": the entry jumps to the address in the hook's target, which is one of
 *
 *   the counting code    if the function is the allocator's own: operator new of jemalloc, tcmalloc
 *                        and mimalloc never calls a malloc that could be hooked
 *   the real function    if it allocates by calling malloc, which is hooked as well, so that
 *                        nothing is counted twice
 *   the direct code      if it is operator new or delete of libstdc++ or libc++, which are known to
 *                        call only malloc and free: the entry calls these directly, and the real
 *                        operator new only if malloc fails
 *
 * kinds/heap/malloc_hook.h, symbol/omitted_functions.c and the assembler beside that include this file.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_SYMBOL_MALLOC_LIST_H
#define PP_SYMBOL_MALLOC_LIST_H

/* Functions of libc, which are looked up together. C and assembler define reallocarray and
 * malloc_usable_size by hand. */
#define PP_MALLOC_LIST_LIBC(X)                                                                     \
    X(malloc, MALLOC)                                                                              \
    X(free, FREE)                                                                                  \
    X(calloc, CALLOC)                                                                              \
    X(realloc, REALLOC)                                                                            \
    X(posix_memalign, POSIX)                                                                       \
    X(aligned_alloc, ALLOC1)                                                                       \
    X(memalign, ALLOC1)                                                                            \
    X(valloc, ALLOC0)                                                                              \
    X(pvalloc, ALLOC0)

/* The list of operator new, new[], delete, delete[]: plain, nothrow, aligned, aligned nothrow;
 * sized deletes. */
#define PP_MALLOC_LIST_CXX(X)                                                                      \
    X(_Znwm, NEW)                                                                                  \
    X(_Znam, NEW)                                                                                  \
    X(_ZnwmRKSt9nothrow_t, NEW)                                                                    \
    X(_ZnamRKSt9nothrow_t, NEW)                                                                    \
    X(_ZnwmSt11align_val_t, ALLOC0)                                                                \
    X(_ZnamSt11align_val_t, ALLOC0)                                                                \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, ALLOC0)                                                  \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, ALLOC0)                                                  \
    X(_ZdlPv, DELETE)                                                                              \
    X(_ZdaPv, DELETE)                                                                              \
    X(_ZdlPvm, DELETE)                                                                             \
    X(_ZdaPvm, DELETE)                                                                             \
    X(_ZdlPvRKSt9nothrow_t, DELETE)                                                                \
    X(_ZdaPvRKSt9nothrow_t, DELETE)                                                                \
    X(_ZdlPvSt11align_val_t, RELEASE)                                                              \
    X(_ZdaPvSt11align_val_t, RELEASE)                                                              \
    X(_ZdlPvmSt11align_val_t, RELEASE)                                                             \
    X(_ZdaPvmSt11align_val_t, RELEASE)                                                             \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, RELEASE)                                                \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, RELEASE)

/*
 * Functions of C23, and the own functions of jemalloc (without prefix, with its own prefix, and
 * with that of Rust's tikv-jemallocator), tcmalloc and mimalloc. Each is looked up at its first
 * call.
 *
 * Of mimalloc the list has only functions that no other hooked function calls through the symbol
 * table; otherwise a block would be counted twice, since most of its functions call others. So a
 * resized block is counted in one of the mi_heap_ functions. mi_malloc_aligned and its kin, which
 * operator new and aligned_alloc call, are not counted if the program calls them itself.
 */
#define PP_MALLOC_LIST_OTHERS(X)                                                                   \
    X(free_sized, RELEASE)                                                                         \
    X(free_aligned_sized, RELEASE)                                                                 \
    X(mallocx, ALLOC0)                                                                             \
    X(rallocx, RESIZE)                                                                             \
    X(xallocx, IN_PLACE)                                                                           \
    X(dallocx, RELEASE)                                                                            \
    X(sdallocx, RELEASE)                                                                           \
    X(je_malloc, ALLOC0)                                                                           \
    X(je_calloc, CALLOC)                                                                           \
    X(je_realloc, RESIZE)                                                                          \
    X(je_free, RELEASE)                                                                            \
    X(je_posix_memalign, POSIX)                                                                    \
    X(je_aligned_alloc, ALLOC1)                                                                    \
    X(je_memalign, ALLOC1)                                                                         \
    X(je_valloc, ALLOC0)                                                                           \
    X(je_mallocx, ALLOC0)                                                                          \
    X(je_rallocx, RESIZE)                                                                          \
    X(je_xallocx, IN_PLACE)                                                                        \
    X(je_dallocx, RELEASE)                                                                         \
    X(je_sdallocx, RELEASE)                                                                        \
    X(_rjem_malloc, ALLOC0)                                                                        \
    X(_rjem_calloc, CALLOC)                                                                        \
    X(_rjem_realloc, RESIZE)                                                                       \
    X(_rjem_free, RELEASE)                                                                         \
    X(_rjem_posix_memalign, POSIX)                                                                 \
    X(_rjem_aligned_alloc, ALLOC1)                                                                 \
    X(_rjem_memalign, ALLOC1)                                                                      \
    X(_rjem_valloc, ALLOC0)                                                                        \
    X(_rjem_mallocx, ALLOC0)                                                                       \
    X(_rjem_rallocx, RESIZE)                                                                       \
    X(_rjem_xallocx, IN_PLACE)                                                                     \
    X(_rjem_dallocx, RELEASE)                                                                      \
    X(_rjem_sdallocx, RELEASE)                                                                     \
    X(tc_malloc, ALLOC0)                                                                           \
    X(tc_malloc_skip_new_handler, ALLOC0)                                                          \
    X(tc_calloc, CALLOC)                                                                           \
    X(tc_realloc, RESIZE)                                                                          \
    X(tc_free, RELEASE)                                                                            \
    X(tc_cfree, RELEASE)                                                                           \
    X(tc_free_sized, RELEASE)                                                                      \
    X(tc_posix_memalign, POSIX)                                                                    \
    X(tc_memalign, ALLOC1)                                                                         \
    X(tc_valloc, ALLOC0)                                                                           \
    X(tc_pvalloc, ALLOC0)                                                                          \
    X(tc_new, ALLOC0)                                                                              \
    X(tc_newarray, ALLOC0)                                                                         \
    X(tc_new_nothrow, ALLOC0)                                                                      \
    X(tc_newarray_nothrow, ALLOC0)                                                                 \
    X(tc_new_aligned, ALLOC0)                                                                      \
    X(tc_newarray_aligned, ALLOC0)                                                                 \
    X(tc_new_aligned_nothrow, ALLOC0)                                                              \
    X(tc_newarray_aligned_nothrow, ALLOC0)                                                         \
    X(tc_delete, RELEASE)                                                                          \
    X(tc_deletearray, RELEASE)                                                                     \
    X(tc_delete_sized, RELEASE)                                                                    \
    X(tc_deletearray_sized, RELEASE)                                                               \
    X(tc_delete_nothrow, RELEASE)                                                                  \
    X(tc_deletearray_nothrow, RELEASE)                                                             \
    X(tc_delete_aligned, RELEASE)                                                                  \
    X(tc_deletearray_aligned, RELEASE)                                                             \
    X(tc_delete_sized_aligned, RELEASE)                                                            \
    X(tc_deletearray_sized_aligned, RELEASE)                                                       \
    X(tc_delete_aligned_nothrow, RELEASE)                                                          \
    X(tc_deletearray_aligned_nothrow, RELEASE)                                                     \
    X(mi_malloc, ALLOC0)                                                                           \
    X(mi_malloc_small, ALLOC0)                                                                     \
    X(mi_zalloc, ALLOC0)                                                                           \
    X(mi_zalloc_small, ALLOC0)                                                                     \
    X(mi_calloc, CALLOC)                                                                           \
    X(mi_realloc, RESIZE)                                                                          \
    X(mi_free, RELEASE)                                                                            \
    X(mi_free_size, RELEASE)                                                                       \
    X(mi_free_aligned, RELEASE)                                                                    \
    X(mi_free_size_aligned, RELEASE)                                                               \
    X(mi_cfree, RELEASE)                                                                           \
    X(mi_new, ALLOC0)                                                                              \
    X(mi_new_n, CALLOC)                                                                            \
    X(mi_heap_malloc, ALLOC1)                                                                      \
    X(mi_heap_zalloc, ALLOC1)                                                                      \
    X(mi_heap_calloc, CALLOC_IN)                                                                   \
    X(mi_heap_realloc, RESIZE_IN)                                                                  \
    X(mi_heap_rezalloc, RESIZE_IN)                                                                 \
    X(mi_heap_realloc_aligned, RESIZE_IN)                                                          \
    X(mi_heap_realloc_aligned_at, RESIZE_IN)                                                       \
    X(mi_heap_rezalloc_aligned, RESIZE_IN)                                                         \
    X(mi_heap_rezalloc_aligned_at, RESIZE_IN)

#define PP_MALLOC_LIST(X)                                                                          \
    PP_MALLOC_LIST_LIBC(X)                                                                         \
    PP_MALLOC_LIST_CXX(X)                                                                          \
    PP_MALLOC_LIST_OTHERS(X)

#endif
