/* SPDX-License-Identifier: MIT
 *
 * tracee_qemu.c: the stepped program in qemu's emulator of programs, by the protocol of gdb, where ptrace(2) is
 * tracee.c's: a step of an emulated kernel takes a hundred times as long.
 *
 * The command is the emulator with its program. It listens on a socket that $QEMU_GDB names and stops at the
 * program's first instruction. Guest addresses are the emulator's own, so memory is read from /proc.
 * There is no exec.
 *
 * The protocol: "Debugging with GDB", appendix E. Registers of aarch64: x0 to x30, SP, PC, and 4 bytes of CPSR.
 *
 * Zone: tests.
 * Owns: the child, the socket.
 */
#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_MAX = 4096, CPSR_BYTES = 4, REGISTER_BYTES = 33 * 8 + CPSR_BYTES, WORD = 4 };

tracee tracee_the;

static struct {
    int socket, memory;
    char in[PACKET_MAX];
    size_t in_at, in_end;
    char packet[PACKET_MAX];
} stub = {.socket = -1, .memory = -1};

static const char digits[] = "0123456789abcdef";

/* ---- packets ---- */

static int next_byte(void)
{
    if (stub.in_at == stub.in_end) {
        ssize_t got = read(stub.socket, stub.in, sizeof stub.in);
        if (got <= 0) {
            return -1;
        }
        stub.in_at = 0;
        stub.in_end = (size_t)got;
    }
    return (unsigned char)stub.in[stub.in_at++];
}

/* Acknowledges the packet before. */
static bool send_packet(const char *text)
{
    char packet[PACKET_MAX];
    uint8_t sum = 0;
    for (const char *at = text; *at != '\0'; at++) {
        sum = (uint8_t)(sum + (uint8_t)*at);
    }
    int size = snprintf(packet, sizeof packet, "+$%s#%02x", text, sum);
    return write(stub.socket, packet, (size_t)size) == size;
}

/* The next packet, in stub.packet. */
static bool receive_packet(void)
{
    size_t size = 0;
    int byte = next_byte();
    while (byte >= 0 && byte != '$') {
        byte = next_byte();
    }
    while ((byte = next_byte()) >= 0 && byte != '#' && size < sizeof stub.packet - 1) {
        stub.packet[size++] = (char)byte;
    }
    stub.packet[size] = '\0';
    return byte == '#' && next_byte() >= 0 && next_byte() >= 0;
}

static bool ask(const char *text)
{
    return send_packet(text) && receive_packet();
}

/* ---- registers ---- */

static unsigned digit(char c)
{
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (unsigned)(found - digits) : 0;
}

static void to_bytes(const char *text, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && text[2 * i] != '\0'; i++) {
        bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    }
}

static bool get_registers(struct user_regs_struct *r)
{
    memset(r, 0, sizeof *r);
    if (!ask("g")) {
        return false;
    }
    to_bytes(stub.packet, (uint8_t *)r, REGISTER_BYTES);
    return true;
}

static bool put_registers(const struct user_regs_struct *r)
{
    char text[2 * REGISTER_BYTES + 2];
    const uint8_t *bytes = (const uint8_t *)r;
    text[0] = 'G';
    for (size_t i = 0; i < REGISTER_BYTES; i++) {
        text[2 * i + 1] = digits[bytes[i] >> 4];
        text[2 * i + 2] = digits[bytes[i] & 15];
    }
    text[sizeof text - 1] = '\0';
    return ask(text);
}

/* ---- stops ---- */

static tracee_event gone(void)
{
    tracee_the.exit_status =
        stub.packet[0] == 'W' ? (int)strtoul(stub.packet + 1, NULL, 16) << 8 : SIGKILL;
    kill(tracee_the.pid, SIGKILL);
    while (waitpid(tracee_the.pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return TRACEE_GONE;
}

/* Lets it go on by 's' or 'c', with the signal that waits, until it stops. */
static tracee_event resume(char how)
{
    char text[16] = {how, '\0'};
    if (tracee_the.signal != 0) {
        snprintf(text, sizeof text, "%c%02x", how == 's' ? 'S' : 'C', (unsigned)tracee_the.signal);
    }
    tracee_the.signal = 0;
    if (!ask(text) || stub.packet[0] != 'T') {
        return gone();
    }
    int signal = (int)strtoul((char[3]){stub.packet[1], stub.packet[2], '\0'}, NULL, 16);
    if (!get_registers(&tracee_the.now)) {
        return gone();
    }
    if (signal == SIGTRAP) {
        return TRACEE_STEPPED;
    }
    tracee_the.signal = signal;
    return TRACEE_SIGNAL;
}

static void breakpoint(char what, uint64_t pc)
{
    char text[64];
    snprintf(text, sizeof text, "%c0,%llx,4", what, (unsigned long long)pc);
    ask(text);
}

/* The emulator takes the instruction after a system call with it. */
tracee_event tracee_step(void)
{
    uint64_t pc = machine_pc(&tracee_the.now);
    uint8_t bytes[MACHINE_CODE_MAX];
    bool is_call = tracee_read(pc, bytes, sizeof bytes) == sizeof bytes &&
                   instruction_decode(bytes).kind == INSTRUCTION_SYSTEM_CALL &&
                   machine_call_number(&tracee_the.now) != SYS_rt_sigreturn;
    if (!is_call) {
        return resume('s');
    }
    breakpoint('Z', pc + WORD);
    tracee_event event = resume('c');
    if (event != TRACEE_GONE) {
        breakpoint('z', pc + WORD);
    }
    return event;
}

tracee_event tracee_run_to(uint64_t pc, uint64_t slot)
{
    tracee_event event = TRACEE_GONE;
    do {
        if (machine_pc(&tracee_the.now) == pc) {
            event = resume('s');
            if (event == TRACEE_GONE) {
                return event;
            }
        }
        breakpoint('Z', pc);
        event = resume('c');
        if (event == TRACEE_GONE) {
            return event;
        }
        breakpoint('z', pc);
    } while (event != TRACEE_STEPPED || !tracee_is_over(slot, pc));
    return event;
}

/* ---- the agent ---- */

bool tracee_ask(compare_shared *shared, uint64_t ways, uint64_t stack_top)
{
    struct user_regs_struct before = tracee_the.now;
    struct user_regs_struct call = before;
    int signal = tracee_the.signal;
    machine_fill(shared->registers, &before);
    shared->ways = ways;
    machine_enter(&call, shared->entry, stack_top);
    tracee_the.signal = 0;
    if (!put_registers(&call)) {
        return false;
    }
    tracee_event event = resume('c');
    if (event != TRACEE_STEPPED) {
        fprintf(stderr, "compare: the agent got signal %d at %lx, for PC %lx, SP %lx\n",
                tracee_the.signal, (unsigned long)machine_pc(&tracee_the.now),
                (unsigned long)machine_pc(&before), (unsigned long)machine_sp(&before));
        return false;
    }
    tracee_the.now = before;
    tracee_the.signal = signal;
    return put_registers(&before);
}

/* ---- memory ---- */

size_t tracee_read(uint64_t address, void *to, size_t size)
{
    ssize_t got = pread(stub.memory, to, size, (off_t)address);
    return got < 0 ? 0 : (size_t)got;
}

bool tracee_read_word(uint64_t address, uint64_t *word)
{
    return tracee_read(address, word, sizeof *word) == sizeof *word;
}

/* From the auxiliary vector, which follows arguments and environment on the stack. */
uint64_t tracee_program_entry(void)
{
    uint64_t at = machine_sp(&tracee_the.now);
    uint64_t words[2] = {0};
    tracee_read_word(at, words);
    at += (words[0] + 2) * sizeof *words;
    while (tracee_read_word(at, words) && words[0] != 0) {
        at += sizeof *words;
    }
    at += sizeof *words;
    while (tracee_read(at, words, sizeof words) == sizeof words && words[0] != AT_NULL) {
        if (words[0] == AT_ENTRY) {
            return words[1];
        }
        at += sizeof words;
    }
    return 0;
}

/* ---- start and end ---- */

static void become(char *const command[], const char *agent, const char *shared_path,
                   const char *socket_path)
{
    setenv("LD_PRELOAD", agent, 1);
    setenv(COMPARE_SHARED_VARIABLE, shared_path, 1);
    setenv("QEMU_GDB", socket_path, 1);
    execvp(command[0], command);
    fprintf(stderr, "compare: cannot execute %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

static bool connect_to(const char *path)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    stub.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(stub.socket, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (waitpid(tracee_the.pid, &tracee_the.exit_status, WNOHANG) != 0) {
            return false;
        }
        nanosleep(&pause, NULL);
    }
    unlink(path);
    return true;
}

bool tracee_start(char *const command[], const char *agent, const char *shared_path)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/unwind-compare.%d", getpid());
    tracee_the.pid = fork();
    if (tracee_the.pid == 0) {
        become(command, agent, shared_path, path);
    }
    if (tracee_the.pid < 0 || !connect_to(path)) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/mem", tracee_the.pid);
    stub.memory = open(path, O_RDONLY | O_CLOEXEC);
    return stub.memory >= 0 && ask("?") && get_registers(&tracee_the.now);
}

void tracee_kill(void)
{
    stub.packet[0] = '\0';
    gone();
}
