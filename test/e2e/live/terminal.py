#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""terminal.py: a terminal of a test's own, and a command that runs in it.

    terminal = Terminal(["cpprof", "top", "-p", "1234"], rows=24, columns=80)
    terminal.wait_for("flat%")         until the screen shows it (a regular expression)
    terminal.type("q")
    terminal.wait()                    -> exit status; below 0: the signal

The screen is kept as a terminal would: two screens, a cursor, and the few sequences that are in use. A sequence that is not
known ends the test: whatever is drawn is meant to be understood here.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 60  # seconds; for machines that do much else


class Screen:
    """What is visible: the usual lines, or those of the alternate screen."""

    def __init__(self, rows, columns):
        self.resize(rows, columns)
        self.alternate = False
        self.cursor_shown = True
        self.usual = []  # the lines that were printed outside of the alternate screen
        self.clears = 0

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.overflows = 0

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells] if self.alternate else self.usual

    def text(self):
        return "\n".join(self.lines())

    def put(self, character):
        if not self.alternate:
            self.usual = self.usual or [""]
            self.usual[-1] += character
            return
        width = 2 if ord(character) >= 0x2E80 else 1
        if self.column + width > self.columns:
            self.overflows += 1  # cpprof has to cut lines by itself
            return
        self.cells[self.row][self.column] = character
        for i in range(1, width):
            self.cells[self.row][self.column + i] = ""
        self.column += width

    def control(self, byte):
        if byte == "\n":
            if not self.alternate:
                self.usual.append("")
            else:
                self.row = min(self.row + 1, self.rows - 1)
        elif byte == "\r":
            self.column = 0

    def sequence(self, text):
        if text == "[H":
            self.row = self.column = 0
        elif text == "[K":
            self.cells[self.row][self.column :] = [" "] * (self.columns - self.column)
        elif text == "[2J":
            self.clears += 1
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif text in ("[?1049h", "[?1049l"):
            self.alternate = text.endswith("h")
            self.resize(self.rows, self.columns)
        elif text in ("[?25h", "[?25l"):
            self.cursor_shown = text.endswith("h")
        elif text not in ("[?7h", "[?7l") and not re.fullmatch(r"\[\d*m", text):
            raise SystemExit(f"the terminal does not know the sequence {text!r}")


class Terminal:
    def __init__(self, command, rows=24, columns=80, environment=None, shell=False):
        self.screen = Screen(rows, columns)
        self.pending = b""
        self.status = None
        self.master, slave = pty.openpty()
        self.resize(rows, columns, quiet=True)
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        self.child = os.fork()
        if self.child == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in 0, 1, 2:
                os.dup2(slave, fd)
            os.closerange(3, 256)
            for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE:
                signal.signal(number, signal.SIG_DFL)  # a test in the background ignores some of them
            os.environ.update({"TERM": "xterm"}, **(environment or {}))
            os.execvp(command[0], command)

    # ---- what it shows

    def step(self, seconds=0.1):
        """Reads what has come. Returns whether there was anything."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.pending += os.read(self.master, 65536)
        self.draw()
        return True

    def draw(self):
        text = self.pending.decode("utf-8", "surrogateescape")
        at = 0
        while at < len(text):
            if text[at] == "\033":
                match = re.match(r"\033(\[[?\d;]*[@-~])", text[at:])
                if not match:
                    break  # the rest has not come yet
                self.screen.sequence(match.group(1))
                at += match.end()
            elif text[at] < " ":
                self.screen.control(text[at])
                at += 1
            elif "\udc80" <= text[at] <= "\udcff":
                break
            else:
                self.screen.put(text[at])
                at += 1
        self.pending = text[at:].encode("utf-8", "surrogateescape")

    def wait_until(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if not self.step() and time.monotonic() > deadline:
                raise SystemExit(f"waited a minute for {what}; the screen:\n{self.screen.text()}")

    def wait_for(self, pattern):
        self.wait_until(pattern, lambda: re.search(pattern, self.screen.text(), re.M))

    # ---- what is done to it

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def resize(self, rows, columns, quiet=False):
        if not quiet:
            self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number):
        os.kill(self.child, number)

    def wait_stopped(self):
        self.wait_until("the stop", lambda: self.poll(os.WUNTRACED) == "stopped")

    def poll(self, options=0):
        """None: it runs. "stopped", or its exit status; below 0: the signal."""
        if self.status is not None:
            return self.status
        pid, status = os.waitpid(self.child, os.WNOHANG | options)
        if pid == 0:
            return None
        if os.WIFSTOPPED(status):
            return "stopped"
        self.status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return self.status

    def wait(self):
        self.wait_until("the end", lambda: self.poll() is not None)
        while self.step(0):
            pass
        return self.status

    def is_as_before(self):
        """Whether the modes are those from the beginning, and the usual screen with its cursor is shown."""
        now = termios.tcgetattr(self.slave)
        return now == self.modes and not self.screen.alternate and self.screen.cursor_shown


def expect(what, is_so, screen=None):
    if not is_so:
        raise SystemExit(f"{what}\n{screen.text() if screen else ''}")
