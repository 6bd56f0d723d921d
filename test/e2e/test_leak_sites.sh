#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_leak_sites.sh: on programs of every kind, the leak profile has the same places as LeakSanitizer: in C, C++, with
# GLib, SQLite, threads and libraries. Each program allocates in functions that are called site_NAME.
# libc: glibc, compilers have no sanitizers for musl
# timeout: 1800
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc c++

flags="-O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls"

# The sites in what LeakSanitizer says.
sanitizer_sites() { # PROGRAM
    timeout -s KILL 60 env LSAN_OPTIONS=fast_unwind_on_malloc=0:exitcode=23 "./$1" >"$1.lsan" 2>&1 || true
    ! grep -q 'LeakSanitizer has encountered a fatal error\|does not work under' "$1.lsan" ||
        skip "LeakSanitizer does not work here"
    grep -o 'in site_[a-z_]*' "$1.lsan" | sed 's/in //' | sort -u
}

profile_sites() { # PROGRAM
    timeout -s KILL 60 env LIBPPROF="leak:1,file=$work/$1.pb.gz" LD_PRELOAD="$library" "./$1" >"$1.out" 2>&1 ||
        fail "$1: $? $(cat "$1.out")"
    raw "$1.pb.gz"
    stacks "$1.pb.gz.raw" | grep -o 'site_[a-z_]*' | sort -u
}

compare() { # NAME COMPILER SOURCE LIBRARIES...: the source is on standard input
    compare_name=$1
    compare_compiler=$2
    compare_source=$1.$3
    shift 3
    cat >"$compare_source"
    # shellcheck disable=SC2086 # flags
    $compare_compiler $flags -fsanitize=leak -o "$compare_name.sanitized" "$compare_source" "$@" 2>build.err ||
        skip "no LeakSanitizer: $(cat build.err)"
    # shellcheck disable=SC2086
    $compare_compiler $flags -o "$compare_name" "$compare_source" "$@"
    sanitizer_sites "$compare_name.sanitized" >expected
    profile_sites "$compare_name" >found
    cmp -s expected found ||
        fail "$compare_name: LeakSanitizer has $(tr '\n' ' ' <expected), the profile $(tr '\n' ' ' <found)"
    echo "$compare_name: $(tr '\n' ' ' <found)" | tee -a compared
}

head='
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void clear(void) { volatile char below[8192]; memset((char *)below, 0, sizeof below); }
'
{
    echo "$head"
    cat <<'END'
struct n { struct n *next; char text[40]; };
struct n *kept;
struct n *site_lost_list(struct n *next) { struct n *n = malloc(sizeof *n); n->next = next; return n; }
struct n *site_kept_list(struct n *next) { struct n *n = malloc(sizeof *n); n->next = next; return n; }
void build(void) {
    struct n *l = NULL;
    for (int i = 0; i < 100; i++) { l = site_lost_list(l); kept = site_kept_list(kept); }
}
int main(void) { build(); clear(); return 0; }
END
} | compare list cc c
{
    echo "$head"
    cat <<'END'
char *kept[10];
char *site_strdup(int i) { (void)i; return strdup("a text that is lost"); }
char *site_asprintf(int i) { char *s = NULL; return asprintf(&s, "text %d", i) < 0 ? NULL : s; }
char *site_realloc(int i) { char *s = malloc(10); s = realloc(s, 1000 + (size_t)i); memset(s, 1, 1000); return s; }
void *site_aligned(int i) { void *p = NULL; return posix_memalign(&p, 256, 100 + (size_t)i) ? NULL : p; }
void *site_calloc(int i) { return calloc(3, 100 + (size_t)i); }
char *site_kept_strdup(int i) { (void)i; return strdup("a text that is kept"); }
void build(void) {
    for (int i = 0; i < 10; i++) {
        site_strdup(i); site_asprintf(i); site_realloc(i); site_aligned(i); site_calloc(i);
        kept[i] = site_kept_strdup(i);
    }
}
int main(void) { build(); clear(); return 0; }
END
} | compare functions cc c
{
    echo "$head"
    cat <<'END'
struct t { struct t *left, *right, *up; };
struct t *kept;
struct t *site_lost_tree(struct t *up, int depth) {
    struct t *t = calloc(1, sizeof *t);
    t->up = up;
    if (depth > 0) { t->left = site_lost_tree(t, depth - 1); t->right = site_lost_tree(t, depth - 1); }
    return t;
}
struct t *site_kept_tree(struct t *up, int depth) {
    struct t *t = calloc(1, sizeof *t);
    t->up = up;
    if (depth > 0) { t->left = site_kept_tree(t, depth - 1); t->right = site_kept_tree(t, depth - 1); }
    return t;
}
void build(void) { site_lost_tree(NULL, 6); kept = site_kept_tree(NULL, 6)->left->right; }
int main(void) { build(); clear(); return 0; }
END
} | compare tree cc c
{
    echo "$head"
    cat <<'END'
__thread void *in_thread;
void *kept;
void *site_of_ended_thread(void) { return malloc(100); }
void *site_returned(void) { return malloc(200); }
void *site_kept_by_main(void) { return malloc(300); }
void *work(void *unused) { (void)unused; in_thread = site_of_ended_thread(); void *r = site_returned(); clear(); return r; }
int main(void) {
    in_thread = site_kept_by_main();
    for (int i = 0; i < 8; i++) {
        pthread_t t;
        void *r = NULL;
        pthread_create(&t, NULL, work, NULL);
        pthread_join(t, &r);
        if (i % 2) { free(kept); kept = r; }
    }
    clear();
    return 0;
}
END
} | compare threads cc c -pthread
{
    echo "$head"
    cat <<'END'
struct table { size_t size; char **slots; };
struct table *kept;
struct table *site_table(size_t size) {
    struct table *t = malloc(sizeof *t);
    t->size = size;
    t->slots = calloc(size, sizeof *t->slots);
    return t;
}
char *site_value(const char *text) { return strdup(text); }
char *site_overwritten(const char *text) { return strdup(text); }
int main(void) {
    kept = site_table(64);
    for (int i = 0; i < 64; i++) { kept->slots[i] = site_overwritten("first"); }
    for (int i = 0; i < 64; i++) { kept->slots[i] = site_value("second"); }
    clear();
    return 0;
}
END
} | compare table cc c
compare containers c++ cc <<'END'
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
struct node { std::shared_ptr<node> other; std::string text = std::string(100, 'x'); };
std::map<int, std::string> *kept_map;
std::vector<std::unique_ptr<node>> kept_nodes;
std::unordered_map<std::string, std::vector<int>> kept_table;
__attribute__((noinline)) void site_cycle() {
    auto a = std::make_shared<node>(), b = std::make_shared<node>();
    a->other = b; b->other = a;
}
__attribute__((noinline)) void site_vector() { new std::vector<int>(1000); }
__attribute__((noinline)) void site_map() { auto *m = new std::map<int, std::string>; for (int i = 0; i < 50; i++) (*m)[i] = std::string(100, 'y'); }
__attribute__((noinline)) void site_array() { new std::string[20]; }
__attribute__((noinline)) void site_kept() {
    kept_map = new std::map<int, std::string>;
    for (int i = 0; i < 50; i++) (*kept_map)[i] = std::string(100, 'z');
    for (int i = 0; i < 50; i++) kept_nodes.push_back(std::make_unique<node>());
    for (int i = 0; i < 50; i++) kept_table["a long key, longer than a small string " + std::to_string(i)].resize(10);
}
__attribute__((noinline)) void clear() { volatile char below[16384]; for (auto &b : below) b = 0; }
int main() { for (int i = 0; i < 5; i++) { site_cycle(); site_vector(); site_map(); site_array(); } site_kept(); clear(); }
END
{
    echo "$head"
    cat <<'END'
#include <dlfcn.h>
void **kept;
void *site_in_freed(void) { return malloc(64); }
void *site_in_array(void) { return malloc(64); }
void **site_array(void) { return malloc(50 * sizeof(void *)); }
void build(void) {
    void **array = malloc(60 * sizeof *array);
    for (int i = 0; i < 60; i++) array[i] = site_in_freed();
    free(array);
    kept = site_array();
    for (int i = 0; i < 50; i++) kept[i] = site_in_array();
    kept += 25;
}
int main(void) { build(); clear(); return 0; }
END
} | compare freed cc c
{
    echo "$head"
    cat <<'END'
FILE *kept;
void *site_file(void) { return fopen("/dev/null", "r"); }
void *site_kept_file(void) { return fopen("/dev/null", "r"); }
void *site_memory(void) { char *text = NULL; size_t size = 0; FILE *f = open_memstream(&text, &size); fputs("x", f); fclose(f); return text; }
int main(void) {
    for (int i = 0; i < 4; i++) site_memory();
    kept = site_kept_file();
    clear();
    return 0;
}
END
} | compare files cc c
{
    echo "$head"
    cat <<'END'
#include <dirent.h>
#include <locale.h>
#include <regex.h>
#include <search.h>
#include <unistd.h>
regex_t kept;
void *kept_tree;
char *site_line(void) { char *line = NULL; size_t size = 0; FILE *f = fopen("/proc/self/status", "r"); if (getline(&line, &size, f) < 0) { } fclose(f); return line; }
char *site_path(void) { return realpath("/proc/self/exe", NULL); }
char *site_folder(void) { return getcwd(NULL, 0); }
void *site_names(void) { struct dirent **names = NULL; return scandir("/proc/self", &names, NULL, alphasort) < 0 ? NULL : names; }
void *site_opened(void) { return opendir("/"); }
void site_pattern(void) { regex_t r; regcomp(&r, "a[b-d]*e", REG_EXTENDED); }
void site_kept_pattern(void) { regcomp(&kept, "a[b-d]*e", REG_EXTENDED); }
void *site_locale(void) { return newlocale(LC_NUMERIC_MASK, "C.UTF-8", NULL); }
int order(const void *a, const void *b) { return (a > b) - (a < b); }
void *site_tree(void) { void *tree = NULL; for (uintptr_t i = 1; i < 20; i++) tsearch((void *)i, &tree, order); return tree; }
void site_kept_tree(void) { for (uintptr_t i = 1; i < 20; i++) tsearch((void *)i, &kept_tree, order); }
int main(void) {
    for (int i = 0; i < 4; i++) { site_line(); site_path(); site_folder(); site_names(); site_opened(); site_pattern(); site_locale(); site_tree(); }
    site_kept_pattern();
    site_kept_tree();
    clear();
    return 0;
}
END
} | compare calls cc c
compare objects c++ cc -pthread <<'END'
#include <cstring>
#include <exception>
#include <forward_list>
#include <functional>
#include <future>
#include <list>
#include <new>
#include <sstream>
#include <thread>
struct shape { virtual ~shape() = default; };
struct named : virtual shape { std::string name = std::string(60, 'n'); };
struct other { virtual ~other() = default; long number = 1; };
struct both : named, other { };
other *kept_part;
std::list<std::string> *kept_list;
std::function<std::string()> *kept_function;
std::exception_ptr kept_exception;
__attribute__((noinline)) void site_list() { new std::list<std::string>(20, std::string(60, 'l')); }
__attribute__((noinline)) void site_forward() { new std::forward_list<int>(20, 1); }
__attribute__((noinline)) void site_function() { std::string text(60, 'f'); new std::function<std::string()>([text] { return text; }); }
__attribute__((noinline)) void site_stream() { auto *s = new std::ostringstream; *s << std::string(300, 's'); }
__attribute__((noinline)) void site_aligned() { void *p = ::operator new(100, std::align_val_t(64)); memset(p, 0, 100); }
__attribute__((noinline)) void site_both() { new both; }
__attribute__((noinline)) void site_thrown() { try { throw named(); } catch (...) { new std::exception_ptr(std::current_exception()); } }
__attribute__((noinline)) void site_kept_part() { kept_part = new both; }
__attribute__((noinline)) void site_kept() {
    kept_list = new std::list<std::string>(20, std::string(60, 'k'));
    std::string text(60, 'k');
    kept_function = new std::function<std::string()>([text] { return text; });
    try { throw named(); } catch (...) { kept_exception = std::current_exception(); }
}
__attribute__((noinline)) void site_in_thread() { new std::string(60, 't'); }
__attribute__((noinline)) void site_in_async() { new std::string(60, 'a'); }
__attribute__((noinline)) void in_threads() { std::thread(site_in_thread).join(); std::async(std::launch::async, site_in_async).get(); }
__attribute__((noinline)) void clear() { volatile char below[16384]; for (auto &b : below) b = 0; }
int main() {
    for (int i = 0; i < 4; i++) { site_list(); site_forward(); site_function(); site_stream(); site_aligned(); site_both(); site_thrown(); in_threads(); }
    site_kept_part();
    site_kept();
    clear();
}
END
if glib=$(pkg-config --cflags --libs glib-2.0 2>/dev/null); then
    # shellcheck disable=SC2086 # words
    compare glib cc c $glib <<'END'
#include <glib.h>
#include <string.h>
GHashTable *kept;
GList *site_list(void) { GList *l = NULL; for (int i = 0; i < 20; i++) l = g_list_append(l, NULL); return l; }
char *site_text(void) { return g_strdup_printf("%s", "a text that is lost"); }
void *site_string(void) { GString *s = g_string_new("lost"); g_string_append(s, "a text that is longer than it was"); return s; }
void site_kept(void) { kept = g_hash_table_new(g_str_hash, g_str_equal); for (int i = 0; i < 20; i++) g_hash_table_insert(kept, g_strdup_printf("key %d", i), g_strdup("value")); }
void clear(void) { volatile char below[8192]; memset((char *)below, 0, sizeof below); }
int main(void) { for (int i = 0; i < 4; i++) { site_list(); site_text(); site_string(); } site_kept(); clear(); return 0; }
END
fi
if [ -e /usr/include/sqlite3.h ]; then
    compare sqlite cc c -lsqlite3 <<'END'
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
sqlite3 *kept;
void site_kept(void) { sqlite3_open(":memory:", &kept); sqlite3_exec(kept, "create table t(a); insert into t values (1),(2)", NULL, NULL, NULL); }
void site_result(void) { char **rows = NULL; int n = 0, m = 0; sqlite3_get_table(kept, "select * from t", &rows, &n, &m, NULL); }
void site_text(void) { sqlite3_mprintf("%s", "a text that is lost"); }
void clear(void) { volatile char below[16384]; memset((char *)below, 0, sizeof below); }
int main(void) { site_kept(); for (int i = 0; i < 4; i++) { site_result(); site_text(); } clear(); return 0; }
END
fi
{
    echo "$head"
    cat <<'END'
struct ring { unsigned head, tail; void *slots[16]; };
struct ring *kept;
struct ring *site_ring(void) { return calloc(1, sizeof(struct ring)); }
struct ring *site_lost_ring(void) { return calloc(1, sizeof(struct ring)); }
void *site_message(void) { return malloc(100); }
void *site_dropped(void) { return malloc(100); }
void *site_of_lost_ring(void) { return malloc(100); }
void build(void) {
    kept = site_ring();
    struct ring *lost = site_lost_ring();
    for (int i = 0; i < 16; i++) { kept->slots[i] = site_dropped(); lost->slots[i] = site_of_lost_ring(); }
    for (int i = 0; i < 16; i++) { kept->slots[kept->head++ % 16] = site_message(); }
}
int main(void) { build(); clear(); return 0; }
END
} | compare ring cc c
expect_at_least "programs" 10 "$(wc -l <compared)"
echo ok
