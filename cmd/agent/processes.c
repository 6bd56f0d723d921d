/* SPDX-License-Identifier: MIT
 *
 * processes.c: see processes.h.
 *
 *   /proc --> new number --> looks for the socket --> asks for the status --> reachable
 *                 ^                | none                | no answer             |
 *                 '-- pause, 1 s to 32 s ----------------'      pidfd: it ends --+--> gone
 *
 * Tested by: e2e.cpprof_agent, e2e.cpprof_agent_hostile.
 */
#include "agent/processes.h"

#include "ask/control.h"
#include "ask/control_target.h"
#include "ask/process_files.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/regex.h"
#include "profile/protobuf.h"
#include "push/resource.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const int64_t scan_ns = SECOND, least_pause_ns = SECOND, most_pause_ns = 32 * SECOND;
/* A process that runs answers at once; one that is stopped, or is hostile, does not. */
static const int64_t status_ns = 2 * SECOND;

enum { STATUS_BYTES = 4096 };

/* ---- the list ---- */

/* Where the number is in the list, or belongs. */
static size_t place_of(const cp_processes *all, int pid)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all->list[middle]->pid < pid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static cp_host_process *add(cp_processes *all, size_t place, int pid)
{
    cp_host_process *process = cp_heap_alloc(1, sizeof *process);

    *process = (cp_host_process){.all = all,
                                 .pid = pid,
                                 .pause_ns = least_pause_ns,
                                 .life = {.fd = -1},
                                 .asking = {.source = {.fd = -1}}};
    all->list = cp_heap_grow(all->list, all->count, &all->room, sizeof(void *));
    memmove(all->list + place + 1, all->list + place, (all->count - place) * sizeof(void *));
    all->list[place] = process;
    all->count++;
    return process;
}

static void free_texts(cp_host_process *process)
{
    free(process->program);
    free(process->service);
    free(process->on);
    free(process->answer);
    process->program = process->service = process->on = process->answer = NULL;
}

static void free_process(cp_host_process *process)
{
    cp_exchange_cancel(&process->asking);
    cp_loop_close(&process->life);
    free_texts(process);
    free(process);
}

static void remove_at(cp_processes *all, size_t place)
{
    free_process(all->list[place]);
    all->count--;
    memmove(all->list + place, all->list + place + 1, (all->count - place) * sizeof(void *));
}

/* ---- coming and going ---- */

static void lose(cp_host_process *process, bool has_ended)
{
    cp_processes *all = process->all;

    if (process->is_reachable) {
        process->is_reachable = false;
        if (all->events) {
            all->events->goes(process, has_ended, all->context);
        }
    }
}

static void forget(cp_host_process *process)
{
    cp_processes *all = process->all;

    lose(process, true);
    remove_at(all, place_of(all, process->pid));
}

/* It is asked again later, and more and more rarely. */
static void postpone(cp_host_process *process)
{
    process->ask_at_ns = cp_now_ns() + process->pause_ns;
    process->pause_ns =
        process->pause_ns < most_pause_ns / 2 ? 2 * process->pause_ns : most_pause_ns;
}

static void see_end(cp_loop_source *life, uint32_t events)
{
    cp_host_process *process = (cp_host_process *)((char *)life - offsetof(cp_host_process, life));

    if (events) {
        forget(process);
    }
}

/* ---- names ---- */

static char *taken(char *text)
{
    if (text && !*text) {
        free(text);
        return NULL;
    }
    return text;
}

/* As an OpenTelemetry SDK would find it, and as the process itself would push it. */
static char *service_of(const cp_host_process *process, const cp_target *target)
{
    cp_target_environment e;
    push_resource resource;

    cp_target_environment_read(target, &e);
    char *option = taken(cp_target_option(e.options, "service"));
    const push_resource_source source = {.service = option,
                                         .name = e.service,
                                         .attributes = e.resource,
                                         .program = process->program};
    push_resource_init(&resource, &source);
    char *service = cp_heap_copy(resource.labels[0].value, strlen(resource.labels[0].value));
    free(option);
    cp_target_environment_release(&e);
    return service;
}

static void read_names(cp_host_process *process, const cp_target *target)
{
    cp_process_stat stat;
    char *program = taken(cp_target_program(process->pid));

    if (!program && cp_process_stat_read(process->pid, "stat", &stat)) {
        program = cp_heap_copy(stat.name, strlen(stat.name));
    }
    process->program = program ? program : cp_heap_copy("?", 1);
    process->service = service_of(process, target);
}

/* ---- the status ---- */

static void begin_answer(cp_exchange *x)
{
    cp_host_process *process = x->owner;

    free(process->answer);
    process->answer = cp_heap_alloc(1, STATUS_BYTES);
    process->answer_length = 0;
}

static size_t take_answer(cp_exchange *x, const char *data, size_t length)
{
    cp_host_process *process = x->owner;
    size_t room = STATUS_BYTES - process->answer_length;

    memcpy(process->answer + process->answer_length, data, length < room ? length : room);
    process->answer_length += length < room ? length : room;
    return length; /* what is too long is read and left out */
}

/* Whether the number still belongs to the process that was asked. */
static bool is_the_same(const cp_host_process *process)
{
    cp_process_stat stat;

    return cp_process_stat_read(process->pid, "stat", &stat) && stat.start == process->start;
}

/* The descriptor is the process's as long as it is open; so what /proc says after that is of the same. */
static bool watch(cp_host_process *process)
{
    if (process->life.fd >= 0) {
        return true;
    }
    process->life = (cp_loop_source){.fd = (int)syscall(SYS_pidfd_open, process->pid, 0),
                                     .events = EPOLLIN,
                                     .deadline_ns = CP_NEVER,
                                     .act = see_end};
    if (process->life.fd < 0 && errno == ESRCH) {
        return false;
    }
    if (process->life.fd >= 0 && cp_loop_add(process->all->loop, &process->life) < 0) {
        cp_loop_close(&process->life); /* the scans will see its end */
    }
    return is_the_same(process);
}

static void appear(cp_host_process *process, char *on)
{
    cp_target target;
    cp_error error;
    bool is_new = !process->is_reachable;

    free(process->on);
    process->on = on;
    process->pause_ns = least_pause_ns;
    if (is_new && cp_target_read(process->pid, &target, &error) == 0) {
        read_names(process, &target);
        process->is_reachable = true;
        if (process->all->events) {
            process->all->events->appears(process, process->all->context);
        }
    }
    /* It may record something else by then. Who collects from it asks more often. */
    process->ask_at_ns = process->work ? CP_NEVER : cp_now_ns() + most_pause_ns;
}

static void end_answer(cp_exchange *x, const char *failure)
{
    cp_host_process *process = x->owner;
    const cp_bytes answer = {(uint8_t *)process->answer, process->answer_length, STATUS_BYTES};
    char *on = !failure && x->status == 200 ? cp_control_value(&answer, "on") : NULL;

    free(process->answer);
    process->answer = NULL;
    if (on && watch(process)) {
        appear(process, on);
        return;
    }
    free(on);
    lose(process, false);
    postpone(process);
}

static const cp_exchange_events asking_events = {begin_answer, take_answer, end_answer};

static void ask(cp_host_process *process, int fd)
{
    static const char request[] = "GET /control/status HTTP/1.0\r\n\r\n";

    process->asking = (cp_exchange){
        .events = &asking_events, .owner = process, .patience_ns = status_ns, .source.fd = -1};
    if (cp_exchange_begin(&process->asking, process->all->loop, fd,
                          cp_heap_copy(request, sizeof request - 1), sizeof request - 1) < 0) {
        postpone(process);
    }
}

int cp_host_process_connect(const cp_host_process *process)
{
    char path[PATH_MAX];
    cp_target target;
    cp_error error;

    if (cp_target_read(process->pid, &target, &error) < 0 || !cp_target_is_ours(&target)) {
        return -1;
    }
    target.hurries = true;
    return cp_target_connect(&target, path, &error);
}

/* ---- commands ---- */

static bool matches(cp_regex *regex, const char *command)
{
    return cp_regex_match(regex, command, strlen(command));
}

/* Whether it is a program, and one that counts. Threads of the kernel have no command. */
static bool counts(const cp_processes *all, const char *command)
{
    return command && (!all->only || matches(all->only, command));
}

/* Once for each process: what refuses it will go on to refuse. */
static void attach_if_wanted(cp_host_process *process, const char *command)
{
    const cp_processes *all = process->all;

    if (all->attach && !process->was_attached_to && matches(all->attach, command)) {
        process->was_attached_to = cp_attacher_begin(all->attacher, process->pid);
        process->pause_ns = least_pause_ns;
    }
}

/* Looks whether it has a socket, and asks there. */
static void look_at(cp_host_process *process)
{
    cp_process_stat stat;

    process->ask_at_ns = CP_NEVER;
    if (!cp_process_stat_read(process->pid, "stat", &stat)) {
        postpone(process);
        return;
    }
    if (stat.start != process->start) { /* another process has the number */
        process->start = stat.start;
        process->pause_ns = least_pause_ns;
        process->was_attached_to = false;
    }
    char *command = cp_process_command(process->pid);
    bool does_count = counts(process->all, command);
    int fd = does_count ? cp_host_process_connect(process) : -1;
    if (fd >= 0) {
        ask(process, fd);
    } else {
        process->pause_ns = command ? process->pause_ns : most_pause_ns;
        lose(process, false);
        if (does_count) {
            attach_if_wanted(process, command);
        }
        postpone(process);
    }
    free(command);
}

void cp_host_process_set_on(cp_host_process *process, const char *on)
{
    free(process->on);
    process->on = cp_heap_copy(on, strlen(on));
}

void cp_host_process_doubt(cp_host_process *process)
{
    if (process->asking.source.fd < 0) {
        process->ask_at_ns = 0; /* the next scan looks at it */
    }
}

/* ---- scans ---- */

static void find(cp_processes *all, int pid)
{
    size_t place = place_of(all, pid);
    bool is_known = place < all->count && all->list[place]->pid == pid;
    cp_host_process *process = is_known ? all->list[place] : add(all, place, pid);

    process->is_found = true;
    if (process->ask_at_ns <= cp_now_ns()) {
        look_at(process);
    }
}

static void forget_the_others(cp_processes *all)
{
    for (size_t i = all->count; i-- > 0;) {
        cp_host_process *process = all->list[i];
        bool is_lost = process->is_reachable && process->life.fd < 0 && !is_the_same(process);
        if (!process->is_found || is_lost) {
            lose(process, true);
            remove_at(all, i);
        } else {
            process->is_found = false;
        }
    }
}

static void scan(cp_loop_source *source, uint32_t events)
{
    cp_processes *all = (cp_processes *)((char *)source - offsetof(cp_processes, scan));
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    (void)events;

    while (folder && (entry = readdir(folder)) != NULL) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != getpid()) {
            find(all, (int)pid);
        }
    }
    if (folder) {
        closedir(folder);
        forget_the_others(all);
    }
    cp_loop_wait_until(&all->scan, cp_now_ns() + scan_ns);
}

int cp_processes_begin(cp_processes *all, cp_loop *loop)
{
    all->loop = loop;
    all->scan = (cp_loop_source){.fd = -1, .deadline_ns = 0, .act = scan};
    return cp_loop_add(loop, &all->scan);
}

void cp_processes_end(cp_processes *all)
{
    cp_loop_remove(&all->scan);
    for (size_t i = 0; i < all->count; i++) {
        free_process(all->list[i]);
    }
    free(all->list);
    all->list = NULL;
    all->count = all->room = 0;
}

/* ---- questions ---- */

cp_host_process *cp_processes_find(const cp_processes *all, const char *name, size_t length)
{
    char text[48], *end = NULL;

    if (length == 0 || length >= sizeof text || *name < '0' || *name > '9') {
        return NULL;
    }
    memcpy(text, name, length);
    text[length] = '\0';
    errno = 0;
    long pid = strtol(text, &end, 10);
    uint64_t start = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
    size_t place = errno == 0 && !*end && pid <= INT_MAX ? place_of(all, (int)pid) : all->count;
    cp_host_process *process = place < all->count ? all->list[place] : NULL;
    bool is_it = process && process->pid == pid && process->is_reachable &&
                 (start == 0 || start == process->start);
    return is_it ? process : NULL;
}
