/* SPDX-License-Identifier: MIT
 *
 * record_tree.c: see record_tree.h.
 *
 * Tested by: unit.cmd_record_tree, e2e.cpprof_record_tree.
 */
#include "record/record_tree.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/string_pool.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "libpprof-process 1 "

enum { FIRST_SLOTS = 64, MAX_LINES = 10, MAX_NAMES = 4 };

/* The kernel counts the very end of a process, too, which the process cannot tell. So what nobody
 * has told says something only if it is more than that. */
#define LEAST_UNSEEN_SECONDS 0.1
#define LEAST_UNSEEN_SHARE   0.05
#define END_SECONDS          0.003

static const struct {
    const char *event, *reason;
} states[CP_TREE_STATES] = {
    [CP_TREE_EXECUTES] = {"executes", "does not load the library"},
    [CP_TREE_STATIC] = {"static", "statically linked"},
    [CP_TREE_FOREIGN] = {"foreign", "for another machine or C library"},
    [CP_TREE_PRIVILEGED] = {"privileged", "set-user-id"},
    [CP_TREE_CLEARED] = {"cleared", "started without LD_PRELOAD"},
    [CP_TREE_CONFINED] = {"confined", "after it has set a seccomp filter"},
    [CP_TREE_RUNS] = {"begins", "ended without writing, as by SIGKILL"},
    [CP_TREE_ENDED] = {"ends", ""},
};

void cp_tree_init(cp_tree *tree)
{
    memset(tree, 0, sizeof *tree);
    cp_index_init(&tree->by_pid, FIRST_SLOTS);
    cp_index_init(&tree->by_program, FIRST_SLOTS);
    tree->list = cp_heap_grow(NULL, 0, &tree->capacity, sizeof *tree->list);
    tree->list[0] = (cp_tree_process){.state = CP_TREE_ENDED};
    tree->count = 1;
}

void cp_tree_release(cp_tree *tree)
{
    cp_index_release(&tree->by_pid);
    cp_index_release(&tree->by_program);
    free(tree->list);
    free(tree->programs);
    memset(tree, 0, sizeof *tree);
}

/* ---- finding ---- */

static uint64_t hash_of(pid_t pid, uint64_t stamp)
{
    return cp_hash_bytes(&pid, sizeof pid, stamp);
}

/* The last process with this id; 0 if there is none. */
static uint32_t find_process(const cp_tree *tree, pid_t pid)
{
    uint64_t hash = hash_of(pid, 0), at = hash;
    uint32_t index, found = 0;

    while (cp_index_next(&tree->by_pid, hash, &at, &index)) {
        if (tree->list[index].pid == pid && index > found) {
            found = index;
        }
    }
    return found;
}

static const cp_tree_program *find_program(const cp_tree *tree, pid_t pid, uint64_t stamp)
{
    uint64_t hash = hash_of(pid, stamp), at = hash;
    uint32_t index;

    while (cp_index_next(&tree->by_program, hash, &at, &index)) {
        if (tree->programs[index].pid == pid && tree->programs[index].stamp == stamp) {
            return &tree->programs[index];
        }
    }
    return NULL;
}

const char *cp_tree_name(const cp_tree *tree, pid_t pid, uint64_t stamp)
{
    const cp_tree_program *program = find_program(tree, pid, stamp);

    return program && program->name[0] ? program->name : NULL;
}

/* ---- adding ---- */

static void set_name(char *to, const char *name)
{
    snprintf(to, CP_TREE_NAME_BYTES, "%s", name);
}

static uint32_t add(cp_tree *tree, pid_t pid, uint32_t parent)
{
    tree->list = cp_heap_grow(tree->list, tree->count, &tree->capacity, sizeof *tree->list);
    tree->list[tree->count] =
        (cp_tree_process){.pid = pid, .parent = parent, .state = CP_TREE_EXECUTES};
    cp_index_add(&tree->by_pid, hash_of(pid, 0), (uint32_t)tree->count);
    return (uint32_t)tree->count++;
}

static void add_program(cp_tree *tree, pid_t pid, uint64_t stamp, const char *name)
{
    if (find_program(tree, pid, stamp)) {
        return;
    }
    tree->programs = cp_heap_grow(tree->programs, tree->program_count, &tree->program_capacity,
                                  sizeof *tree->programs);
    cp_tree_program *program = &tree->programs[tree->program_count];
    *program = (cp_tree_program){.pid = pid, .stamp = stamp};
    set_name(program->name, name);
    cp_index_add(&tree->by_program, hash_of(pid, stamp), (uint32_t)tree->program_count++);
}

void cp_tree_command(cp_tree *tree, pid_t pid, const char *command)
{
    const char *slash = strrchr(command, '/');
    uint32_t index = find_process(tree, pid);

    if (index == 0) {
        index = add(tree, pid, 0);
        set_name(tree->list[index].name, slash ? slash + 1 : command);
    }
}

/* A process that has told nothing may start one that does. The kernel knows its name while it
 * runs. */
static uint32_t find_or_look(cp_tree *tree, pid_t pid, int depth)
{
    enum { MAX_DEPTH = 64 };
    uint32_t index = find_process(tree, pid);

    cp_process_stat stat;
    if (index || depth == MAX_DEPTH || pid <= 1 || !cp_process_stat_read(pid, "stat", &stat)) {
        return index;
    }
    bool is_ours = stat.parent == getpid();
    uint32_t above = is_ours ? 0 : find_or_look(tree, stat.parent, depth + 1);
    if (above == 0 && !is_ours) {
        return 0; /* it is none of ours: the process was adopted */
    }
    index = add(tree, pid, above);
    set_name(tree->list[index].name, stat.name);
    return index;
}

/* ---- messages ---- */

typedef struct message {
    char event[16];
    int pid, parent;
    uint64_t stamp, own_ns, children_ns;
    const char *name;
} message;

static bool read_message(const char *line, message *m)
{
    int end = -1;

    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is another one, of no process */
    if (sscanf(line, "%15s %d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", m->event, &m->pid,
               &m->parent, &m->stamp, &m->own_ns, &m->children_ns, &end) < 6 ||
        end < 0 || m->pid <= 0) {
        return false;
    }
    m->name = line + end;
    return true;
}

static cp_tree_state state_of(const char *event)
{
    cp_tree_state state = CP_TREE_EXECUTES;

    while (state < CP_TREE_STATES && strcmp(states[state].event, event) != 0) {
        state++;
    }
    return state;
}

/* The process of a message. An id is used again after the process with it has ended. */
static uint32_t process_of(cp_tree *tree, const message *m)
{
    uint32_t index = find_process(tree, m->pid);

    if (index == 0 || tree->list[index].state == CP_TREE_ENDED) {
        index = add(tree, m->pid, find_or_look(tree, m->parent, 0));
    }
    return index;
}

/* A process whose parent has ended has another one, who may wait for it or not. */
static void note_end(cp_tree *tree, cp_tree_process *process, const message *m)
{
    if (process->parent != 0 && tree->list[process->parent].pid != m->parent) {
        process->parent = find_process(tree, m->parent);
        process->detached = process->parent == 0;
    }
    process->detached = process->detached || (process->parent != 0 &&
                                              tree->list[process->parent].state == CP_TREE_ENDED);
}

static void apply(cp_tree *tree, const message *m, cp_tree_state state)
{
    uint32_t index = process_of(tree, m);
    cp_tree_process *process = &tree->list[index];

    process->state = state;
    process->own = (double)m->own_ns / 1e9;
    process->children = (double)m->children_ns / 1e9;
    set_name(process->name, m->name);
    if (state == CP_TREE_RUNS) {
        process->began = true;
        process->stamp = m->stamp;
        add_program(tree, m->pid, m->stamp, m->name);
    } else if (state == CP_TREE_ENDED) {
        note_end(tree, process, m);
    }
}

bool cp_tree_take_message(cp_tree *tree, const char *data, size_t length)
{
    char line[1024];

    if (length >= sizeof line || length < sizeof MAGIC - 1 ||
        memcmp(data, MAGIC, sizeof MAGIC - 1) != 0) {
        return false;
    }
    memcpy(line, data, length);
    line[length] = '\0';
    message m;
    if (!read_message(line + sizeof MAGIC - 1, &m)) {
        return false;
    }
    cp_tree_state state = state_of(m.event);
    if (state != CP_TREE_STATES) {
        apply(tree, &m, state);
    }
    return true;
}

/* A program that was executed under a filter may be recorded, and not permitted to tell. */
void cp_tree_wrote(cp_tree *tree, pid_t pid, uint64_t stamp)
{
    cp_tree_process *process = &tree->list[find_process(tree, pid)];

    process->wrote = true;
    if (process->state == CP_TREE_CONFINED && stamp > process->stamp) {
        process->state = CP_TREE_EXECUTES;
    }
}

/* ---- questions ---- */

size_t cp_tree_followed(const cp_tree *tree)
{
    size_t followed = 0;

    for (size_t i = 1; i < tree->count; i++) {
        followed += tree->list[i].began;
    }
    return followed;
}

/* A zombie has ended. */
static bool is_alive(const cp_tree_process *process)
{
    cp_process_stat stat;

    return cp_process_stat_read(process->pid, "stat", &stat) && stat.state != 'Z' &&
           stat.state != 'X';
}

static bool still_runs(const cp_tree_process *process)
{
    return process->state == CP_TREE_RUNS && is_alive(process);
}

bool cp_tree_goes_on(const cp_tree *tree)
{
    for (size_t i = 1; i < tree->count; i++) {
        if (still_runs(&tree->list[i])) {
            return true;
        }
    }
    return false;
}

/* ---- those who are missing ---- */

/* Processes of the same names, whose time is known together. */
typedef struct group {
    char text[256];
    double seconds;
    size_t count; /* of processes */
} group;

typedef struct groups {
    group *list;
    size_t count;
} groups;

/* The nearest process above that has ended with a message, or cpprof: what it says of its children
 * covers the process. */
static uint32_t witness_of(const cp_tree *tree, uint32_t index)
{
    uint32_t above = tree->list[index].parent;

    while (above != 0 && tree->list[above].state != CP_TREE_ENDED) {
        above = tree->list[above].parent;
    }
    return above;
}

/* Adds what each process has told to its witness. A process that has ended speaks for all for which
 * it has waited; another one for itself. */
static void account(cp_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        tree->list[i].accounted = 0;
    }
    for (uint32_t i = 1; i < tree->count; i++) {
        const cp_tree_process *process = &tree->list[i];
        double told = process->own;

        if (process->state == CP_TREE_ENDED) {
            told += process->children;
        }
        if (!process->detached) {
            tree->list[witness_of(tree, i)].accounted += told;
        }
    }
}

static double missing(const cp_tree_process *witness)
{
    double seconds = witness->children - witness->accounted;

    return seconds > 0 ? seconds : 0;
}

static void describe(const cp_tree_process *process, char *text, size_t size)
{
    snprintf(text, size, "%s (%s)", process->name[0] ? process->name : "?",
             states[process->state].reason);
}

/* Adds a name to a list of names. */
static void add_to_text(char *text, size_t size, const char *name)
{
    size_t length = strlen(text);

    if (!strstr(text, name)) {
        snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
    }
}

/* Whether all of a process is in the profile, although it did not tell when it ended. */
static bool is_silent(const cp_tree_process *process)
{
    bool is_followed = process->state == CP_TREE_RUNS || process->state == CP_TREE_EXECUTES;

    return is_followed && process->wrote;
}

static bool is_missing(const cp_tree_process *process)
{
    return process->state != CP_TREE_ENDED && !still_runs(process) && !is_silent(process);
}

static void add_group(groups *all, const group *wanted)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].text, wanted->text) == 0) {
            all->list[i].seconds += wanted->seconds;
            all->list[i].count += wanted->count;
            return;
        }
    }
    all->list = cp_heap_resize(all->list, all->count + 1, sizeof *all->list);
    all->list[all->count++] = *wanted;
}

/* Makes a group for each witness of somebody who is missing. Returns what remains without a
 * name. */
static double make_groups(cp_tree *tree, groups *all)
{
    group *of = cp_heap_alloc(tree->count, sizeof *of);
    bool any_silent = false;
    double unseen = 0;

    memset(of, 0, tree->count * sizeof *of);
    for (uint32_t i = 1; i < tree->count; i++) {
        const cp_tree_process *process = &tree->list[i];
        group *g = &of[witness_of(tree, i)];

        any_silent = any_silent || is_silent(process);
        char text[CP_TREE_NAME_BYTES + 64];
        if (is_missing(process)) {
            describe(process, text, sizeof text);
            add_to_text(g->text, sizeof g->text, text);
            g->count++;
        }
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        of[i].seconds = tree->list[i].state == CP_TREE_ENDED ? missing(&tree->list[i]) : 0;
        if (of[i].count > 0) {
            add_group(all, &of[i]);
        } else {
            unseen += of[i].seconds;
        }
    }
    free(of);
    return any_silent ? 0 : unseen;
}

static int compare(const void *left, const void *right)
{
    const group *a = left, *b = right;

    return a->seconds < b->seconds ? 1 : a->seconds > b->seconds ? -1 : strcmp(a->text, b->text);
}

static void say_groups(const groups *all)
{
    qsort(all->list, all->count, sizeof *all->list, compare);
    for (size_t i = 0; i < all->count && i < MAX_LINES; i++) {
        const group *g = &all->list[i];

        if (g->count == 1) {
            cp_complain("not in the profile: %s, at most %.2f s of CPU time", g->text, g->seconds);
        } else {
            cp_complain("not in the profile: %zu processes, %s, at most %.2f s of CPU time",
                        g->count, g->text, g->seconds);
        }
    }
    if (all->count > MAX_LINES) {
        cp_complain("not in the profile: %zu more", all->count - MAX_LINES);
    }
}

static void say_who_goes_on(const cp_tree *tree)
{
    char text[256] = "";
    size_t count = 0;

    for (size_t i = 1; i < tree->count; i++) {
        if (still_runs(&tree->list[i])) {
            if (count++ < MAX_NAMES) {
                add_to_text(text, sizeof text, tree->list[i].name);
            }
        }
    }
    if (count > 0) {
        cp_complain("not in the profile: %zu process%s (%s) that still run%s", count,
                    count == 1 ? "" : "es", text, count == 1 ? "s" : "");
    }
}

void cp_tree_say_missing(cp_tree *tree, double seconds)
{
    groups all = {NULL, 0};

    tree->list[0].children = seconds;
    account(tree);
    double unseen = make_groups(tree, &all);
    if (all.count > 0) {
        say_groups(&all);
    }
    if (unseen >= LEAST_UNSEEN_SECONDS && unseen >= LEAST_UNSEEN_SHARE * seconds &&
        unseen >= END_SECONDS * (double)tree->count) {
        cp_complain("not in the profile: at most %.2f s of CPU time of processes whose names are "
                    "not known",
                    unseen);
    }
    say_who_goes_on(tree);
    free(all.list);
}
