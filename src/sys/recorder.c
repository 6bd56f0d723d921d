/* SPDX-License-Identifier: MIT
 *
 * recorder.c: sends messages to `cpprof record`.
 *
 * Zone: SIGNAL.
 * Owns: the number and the identity of the socket.
 * Tested by: unit.output, e2e.cpprof_record, e2e.cpprof_record_tree
 */
#include "sys/recorder.h"

#include "sys/apart.h"
#include "sys/beside.h"
#include "sys/clock.h"
#include "sys/file_calls.h"
#include "sys/path_template.h"
#include "sys/tasks.h"
#include "sys/write_all.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

static struct {
    int number; /* the descriptor; -1 = none */
    uint64_t device, inode;
    int process; /* cpprof's */
    bool was_there;
    bool has_told; /* a filter permits the calls that this takes */
} recorder = {.number = -1};

static bool leads_there(int fd, uint64_t device, uint64_t inode)
{
    struct stat status;
    return fd >= 0 && pp_file_status(fd, &status) == 0 && S_ISSOCK(status.st_mode) &&
           status.st_dev == device && status.st_ino == inode;
}

int pp_recorder_set(int fd, uint64_t device, uint64_t inode, int process)
{
    recorder.was_there = true;
    recorder.process = process;
    if (!leads_there(fd, device, inode)) {
        return -EINVAL;
    }
    recorder.device = device;
    recorder.inode = inode;
    __atomic_store_n(&recorder.number, fd, __ATOMIC_RELEASE);
    pp_apart_keep(fd);
    return 0;
}

bool pp_recorder_has(int fd)
{
    return fd >= 0 && fd == __atomic_load_n(&recorder.number, __ATOMIC_ACQUIRE) &&
           leads_there(fd, recorder.device, recorder.inode);
}

bool pp_recorder_is_there(void)
{
    return pp_recorder_has(__atomic_load_n(&recorder.number, __ATOMIC_ACQUIRE));
}

bool pp_recorder_was_there(void)
{
    return recorder.was_there;
}

bool pp_recorder_wants_samples_only(void)
{
    return recorder.has_told && recorder.process != 0 &&
           pp_system_call(SYS_getppid) != recorder.process;
}

void pp_recorder_pass_on(bool on)
{
    if (pp_recorder_is_there()) {
        pp_system_call(SYS_fcntl, recorder.number, F_SETFD, on ? 0 : FD_CLOEXEC);
    }
}

void pp_recorder_give_up(void)
{
    __atomic_store_n(&recorder.number, -1, __ATOMIC_RELEASE);
    pp_apart_keep(-1);
}

/* ---- processes ---- */

enum {
    MESSAGE_BYTES = 512, /* a longer name is cut */
    PATIENCE = 20,       /* turns of 50 ms that a full socket is waited for */
    TURN_MS = 50,
    NS_PER_US = 1000
};

static void add_field(pp_path *header, uint64_t value)
{
    pp_path_add_number(header, value);
    pp_path_add_char(header, ' ');
}

/* A program whose recorder has ended must not get SIGPIPE. While the socket is full, the program may close it, and open
 * its own under the same number. */
static void send_quietly(const pp_path *message)
{
    struct pollfd room = {.fd = recorder.number, .events = POLLOUT};
    long sent = -EAGAIN;
    for (int turn = 0; turn < PATIENCE && (sent == -EAGAIN || sent == -EINTR); turn++) {
        if (turn > 0) {
            pp_file_poll(&room, TURN_MS);
        }
        if (turn > 0 && !pp_recorder_is_there()) {
            return;
        }
        sent = pp_system_call(SYS_sendto, recorder.number, message->data, message->length,
                              MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
    }
}

/* Without the library's own. */
static uint64_t time_of_children_ns(void)
{
    struct rusage use = {.ru_utime.tv_sec = 0};
    pp_system_call(SYS_getrusage, RUSAGE_CHILDREN, &use);
    uint64_t all = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * PP_NS_PER_S +
                   (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * NS_PER_US;
    uint64_t ours = pp_beside_cpu_us() * NS_PER_US;
    return all > ours ? all - ours : 0;
}

static const char *last_part(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++) {
        name = *c == '/' && c[1] != '\0' ? c + 1 : name;
    }
    return name;
}

static void send_event(int process, int parent, pp_recorder_event event, const char *program)
{
    static const char *const names[] = {"begins",  "ends",       "executes", "static",
                                        "foreign", "privileged", "cleared",  "confined"};
    bool is_child = process != pp_task_process();
    char text[MESSAGE_BYTES];
    pp_path message = pp_path_begin(text, sizeof text);
    pp_path_add(&message, "libpprof-process 1 ");
    pp_path_add(&message, names[event]);
    pp_path_add_char(&message, ' ');
    add_field(&message, (uint64_t)process);
    add_field(&message, (uint64_t)parent);
    add_field(&message, pp_path_stamp());
    add_field(&message, is_child ? 0 : pp_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    add_field(&message, is_child ? 0 : time_of_children_ns());
    if (program != NULL) {
        pp_path_add(&message, last_part(program));
    } else {
        pp_path_add_placeholder(&message, 'e', NULL);
    }
    send_quietly(&message);
}

void pp_recorder_tell(pp_recorder_event event, const char *program)
{
    if (pp_recorder_is_there()) {
        recorder.has_told = true;
        send_event(pp_task_process(), (int)pp_system_call(SYS_getppid), event, program);
    }
}

void pp_recorder_tell_of(int child, pp_recorder_event event, const char *program)
{
    if (pp_recorder_is_there()) {
        send_event(child, pp_task_process(), event, program);
    }
}

/* ---- parts ---- */

void pp_recorder_begin(pp_recorder_part *part, const char *kind, unsigned count)
{
    part->kind = kind;
    part->number = count;
    part->offset = 0;
    part->length = 0;
}

/* Places the header directly before the data, so that one write sends both. */
static int send_message(pp_recorder_part *part, bool last, uint64_t give_up_ns)
{
    char text[PP_RECORDER_HEADER_BYTES];
    pp_path header = pp_path_begin(text, sizeof text);
    pp_path_add(&header, "libpprof-part 1 ");
    add_field(&header, (uint64_t)pp_task_process());
    add_field(&header, pp_path_stamp());
    add_field(&header, part->number);
    pp_path_add(&header, part->kind);
    pp_path_add_char(&header, ' ');
    add_field(&header, part->offset);
    pp_path_add(&header, last ? "last\n" : "more\n");
    if (header.overflow) {
        return -ENAMETOOLONG;
    }
    char *start = part->message + PP_RECORDER_HEADER_BYTES - header.length;
    memcpy(start, text, header.length);
    int error = pp_write_all(recorder.number, start, header.length + part->length, give_up_ns);
    part->offset += part->length;
    part->length = 0;
    return error;
}

int pp_recorder_add(pp_recorder_part *part, const void *data, size_t length, uint64_t give_up_ns)
{
    const char *from = data;
    while (length > 0) {
        size_t room = PP_RECORDER_BYTES - part->length;
        size_t piece = length < room ? length : room;
        if (piece == 0) {
            int error = send_message(part, false, give_up_ns);
            if (error != 0) {
                return error;
            }
            continue;
        }
        memcpy(part->message + PP_RECORDER_HEADER_BYTES + part->length, from, piece);
        part->length += piece;
        from += piece;
        length -= piece;
    }
    return 0;
}

int pp_recorder_end(pp_recorder_part *part, uint64_t give_up_ns)
{
    return send_message(part, true, give_up_ns);
}
