#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""screens.py CPPROF PID [SCENARIO]: what `cpprof top -p PID` does on a terminal. PID is web_guest.c with heap, block and mutex."""
import os
import random
import signal
import sys

from terminal import Terminal, expect

cpprof, guest = sys.argv[1], int(sys.argv[2])


def top(*options, **how):
    terminal = Terminal([cpprof, "top", "-p", str(guest), "-d", "0.1", *options], **how)
    terminal.wait_for("flat%")
    return terminal


def ends(terminal, status, how):
    expect(f"status after {how}: expected {status}, found {terminal.wait()}", terminal.status == status, terminal.screen)
    expect(f"the terminal after {how} is not as it was", terminal.is_as_before(), terminal.screen)
    expect(f"lines were too long before {how}", terminal.screen.overflows == 0)


def a_table_is_drawn():
    t = top()
    t.wait_for(r"^cpu: the last \d+\.\d\ds, every 0\.1s  %d /" % guest)
    t.wait_for(r"^CPU \d+\.\d% of \d+  total \d+ms, \d+ samples?, 0 lost  threads 6, \d busy")
    t.wait_for(r"100%  burn_cpu$")
    expect("the keys are in the last line", "q quit" in t.screen.lines()[23], t.screen)
    expect("the cursor is hidden", not t.screen.cursor_shown)
    t.type("q")
    ends(t, 0, "q")
    expect("nothing is left on the usual screen", t.screen.text() == "", t.screen)


def keys_choose():
    t = top()
    t.type("c")
    t.wait_for(", by cum ")
    t.type("t")
    t.wait_for("^heap in use: now")
    t.wait_for("keep_memory")
    t.type("\033[C")
    t.wait_for("^allocations: the last")
    t.wait_for("drop_memory")
    t.type("T")
    t.wait_for("^heap in use: now")
    t.type("4")
    t.wait_for("^block: the last")
    t.wait_for("hold_lock")
    t.type("6")
    t.wait_for("^threads: now")
    t.type("1a")
    t.wait_for("^cpu: since the start")
    t.type("a+")
    t.wait_for("^cpu: the last .*every 0.2s")
    t.type("-")
    t.wait_for("every 0.1s")
    t.type(" ")
    t.wait_for(", paused")
    t.type(" ")
    t.wait_until("the end of the pause", lambda: "paused" not in t.screen.text())
    t.type("?")
    t.wait_for("Any key ends this help")
    t.type("x")
    t.wait_for("flat%")
    t.type("\003")
    ends(t, 0, "Ctrl-C")


def an_expression_is_typed():
    t = top()
    t.type("/burn_c")
    t.wait_for(r"^focus \(RE, Enter\): burn_c_$")
    t.type("pX\177u\r")
    t.wait_for(r"^focus=burn_cpu: ")
    t.type("/(\r")
    t.wait_for(r"missing|unmatched|closing")  # what PCRE2 says of it
    t.type("f")
    t.wait_for(r"^focus \(RE, Enter\): burn_cpu_$")
    t.type("\025\r")
    t.wait_until("no focus", lambda: "focus=" not in t.screen.text())
    t.type("/abc")
    t.wait_for("abc_$")
    t.type("\033")  # alone: Escape
    t.wait_for("q quit")
    t.type("q")
    ends(t, 0, "q")


def a_window_changes_its_size():
    t = top("--cum")
    for rows, columns in (10, 40), (50, 200), (4, 30), (2, 5), (1, 1), (24, 80):
        t.resize(rows, columns)
        drawn = "q quit" if columns >= 30 else "" if columns > 1 else "…"
        t.wait_until(
            f"{rows} rows of {columns}", lambda: drawn in t.screen.lines()[rows - 1] and t.screen.lines()[rows - 1] != ""
        )
        if columns <= 40:
            t.wait_for("…")
        if rows == 50:
            t.wait_for("burn_cpu$")
    expect("lines were too long", t.screen.overflows == 0, t.screen)
    t.type("q")
    ends(t, 0, "q")


def rows_scroll():
    t = top("--cum", rows=7)
    t.wait_for("ms +100%  ")  # the outermost function, whose name depends on libc's
    first = lambda: t.screen.lines()[4]  # the row below the headings
    t.type(" ")
    t.wait_for("paused")
    top_row, second_row = first(), t.screen.lines()[5]
    t.type("\033[B")
    t.wait_until("one row further", lambda: first() == second_row)
    t.type("\033[5~")
    t.wait_until("the first row", lambda: first() == top_row)
    t.type("q")
    ends(t, 0, "q")


def garbage_does_no_harm():
    t = top()
    numbers = random.Random(1)
    quitting = b"qQ\003\004\032\034\021\023"  # and what the terminal itself understands: stop, quit, flow
    for _ in range(50):
        t.type(bytes(b for b in numbers.randbytes(200) if b not in quitting))
        t.step(0)
    t.wait_until("an answer to a key", lambda: t.type("\033") or t.step(1) and "? help" in t.screen.text())
    t.type("1")
    t.wait_for("^cpu: ")
    t.type("q")
    ends(t, 0, "garbage")


def signals_leave_the_terminal_as_it_was():
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT:
        t = top()
        t.signal(number)
        ends(t, -number, f"signal {number}")


def a_terminal_that_is_gone_ends_it():
    t = top()
    os.close(t.slave)
    os.close(t.master)
    status = os.waitpid(t.child, 0)[1]
    expect(f"status without a terminal: {status}", os.WIFSIGNALED(status) or os.WIFEXITED(status))


def it_stops_and_goes_on():
    shell = "bash --norc --noediting -i"
    t = Terminal(shell.split(), environment={"PS1": "$ ", "HISTFILE": ""})
    t.wait_for(r"\$ $")
    t.type("stty -a >before\n")
    t.type(f"{cpprof} top -p {guest} -d 0.1\n")
    t.wait_for("^cpu: the last")
    t.type("\032")
    t.wait_until("the shell", lambda: not t.screen.alternate and "Stopped" in t.screen.text())
    t.type("stty -a >stopped\n")
    t.type("fg\n")
    t.wait_for("^cpu: the last")
    t.type("t")
    t.wait_for("^heap in use: now")
    t.type("q")
    t.wait_until("the shell", lambda: not t.screen.alternate)
    t.type("stty -a >after; echo status $?\n")
    t.wait_for("status 0$")
    t.type("exit\n")
    t.wait()
    before, stopped, after = (open(name).read() for name in ("before", "stopped", "after"))
    expect("stty -a differs while it is stopped", before == stopped)
    expect("stty -a differs after it", before == after)


def without_a_screen_tables_are_printed():
    for options, environment in ((), {"TERM": "dumb"}), (("--batch",), {}):
        t = Terminal([cpprof, "top", "-p", str(guest), "-d", "0.1", "--iterations", "2", *options], environment=environment)
        ends(t, 0, "two tables")
        expect("two tables", t.screen.text().count("cpu: the last") == 2, t.screen)
    t = Terminal([cpprof, "top", "-p", str(guest), "-d", "0.1", "--iterations", "1"])
    ends(t, 0, "one table on a screen")


def a_process_that_does_not_answer_is_waited_for():
    t = top()
    os.kill(guest, signal.SIGSTOP)
    try:
        t.wait_for(r"waiting for the process for \d+ s")
        t.type("q")
        ends(t, 0, "a process that is stopped")
    finally:
        os.kill(guest, signal.SIGCONT)


def the_last_table_stays():
    t = top()
    t.wait_for("burn_cpu$")
    os.kill(guest, signal.SIGKILL)
    ends(t, 0, "the end of the process")
    # On a busy machine the last tenth of a second may have no sample.
    expect("the table is on the usual screen", "flat%" in t.screen.text() and f"  {guest} " in t.screen.text(), t.screen)
    expect("the end is said", f"cpprof: top: process {guest} has ended" in t.screen.text(), t.screen)


scenarios = [
    a_table_is_drawn,
    keys_choose,
    an_expression_is_typed,
    a_window_changes_its_size,
    rows_scroll,
    garbage_does_no_harm,
    signals_leave_the_terminal_as_it_was,
    a_terminal_that_is_gone_ends_it,
    it_stops_and_goes_on,
    without_a_screen_tables_are_printed,
    a_process_that_does_not_answer_is_waited_for,
    the_last_table_stays,
]
for scenario in scenarios:
    if len(sys.argv) < 4 or sys.argv[3] == scenario.__name__:
        print(scenario.__name__, flush=True)
        scenario()
