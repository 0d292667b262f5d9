# SPDX-License-Identifier: BSD-2-Clause
"""What a terminal shows: a program on a pty, and as much of a VT100 as draws what it prints."""

import codecs
import fcntl
import re
import struct
import termios
import time

from lib.live import PATIENCE
from lib.terminal import Terminal

TOKEN = re.compile(r"\x1b\[([?>!]?)([\d;]*)([@-~])|\x1b\][^\x07]*\x07|\x1b[()#].|\x1b([^\[\]()#])|([^\x1b])", re.S)
BEGUN = re.compile(r"\x1b(\[[?>!]?[\d;]*|\][^\x07]*|[()#])?$", re.S)


class Emulator:
    """Rows of characters, a cursor, a region that scrolls; what leaves at the top is history."""

    def __init__(self, columns, rows):
        self.history = []
        self.rows = [[" "] * columns for _ in range(rows)]
        self.columns, self.x, self.y = columns, 0, 0
        self.top, self.bottom = 0, rows - 1
        self.saved = (0, 0)
        self.rest = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def resize(self, columns, rows):
        """As tmux and xterm do: the rows below the cursor go first, and no region is left."""
        while len(self.rows) > rows:
            if self.y < len(self.rows) - 1:
                self.rows.pop()
            else:
                self.history.append(self.rows.pop(0))
                self.y -= 1
        while len(self.rows) < rows:
            self.rows.insert(0, self.history.pop() if self.history else [" "] * columns)
            self.y += 1
        self.rows = [(row + [" "] * columns)[:columns] for row in self.rows]
        self.columns, self.x = columns, min(self.x, columns - 1)
        self.top, self.bottom = 0, rows - 1

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        begun = BEGUN.search(text)
        self.rest = text[begun.start() :] if begun else ""
        for token in TOKEN.finditer(text[: len(text) - len(self.rest)]):
            private, numbers, final, escape, character = token.groups()
            if final and not private:
                self.control(final, [int(n or 0) for n in numbers.split(";")])
            elif escape:
                self.escape(escape)
            elif character:
                self.put(character)

    def scroll_up(self):
        row = self.rows.pop(self.top)
        if not self.top:
            self.history.append(row)
        self.rows.insert(self.bottom, [" "] * self.columns)

    def index(self):
        if self.y == self.bottom:
            self.scroll_up()
        elif self.y < len(self.rows) - 1:
            self.y += 1

    def put(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\b":
            self.x = max(min(self.x, self.columns - 1) - 1, 0)
        elif c in "\n\v\f":
            self.index()
        elif c == "\t":
            self.x = min(self.x // 8 * 8 + 8, self.columns - 1)
        elif c >= " ":
            if self.x == self.columns:
                self.x = 0
                self.index()
            self.rows[self.y][self.x] = c
            self.x += 1

    def escape(self, final):
        if final == "7":
            self.saved = (self.x, self.y)
        elif final == "8":
            self.x, self.y = self.saved
        elif final == "D":
            self.index()
        elif final == "M" and self.y == self.top:
            self.rows.pop(self.bottom)
            self.rows.insert(self.top, [" "] * self.columns)
        elif final == "M":
            self.y = max(self.y - 1, 0)

    def control(self, final, numbers):
        count = numbers[0] or 1
        if final == "A":
            self.y = max(self.y - count, self.top if self.y >= self.top else 0)
        elif final == "C":
            self.x = min(self.x + count, self.columns - 1)
        elif final == "H":
            self.y = min(count, len(self.rows)) - 1
            self.x = min((numbers[1] if len(numbers) > 1 else 0) or 1, self.columns) - 1
        elif final == "r":
            self.top, self.bottom = count - 1, (numbers[1] if len(numbers) > 1 else len(self.rows)) - 1
            self.x = self.y = 0
        elif final == "K":
            begin = 0 if numbers[0] else self.x
            end = min(self.x + 1, self.columns) if numbers[0] == 1 else self.columns
            self.rows[self.y][begin:end] = [" "] * (end - begin)
        elif final == "J":
            self.erase(numbers[0])

    def erase(self, what):
        if not what:
            self.control("K", [0])
        for y in range(len(self.rows)):
            if what == 2 or (not what and y > self.y):
                self.rows[y] = [" "] * self.columns


class Screen(Terminal):
    """A terminal of @columns by @rows with a program on it."""

    def __init__(self, case, argv, columns=60, rows=10, env=None):
        self.drawn = 0
        self.emulator = Emulator(columns, rows)
        size = 'stty rows "$0" cols "$1"; shift; exec "$@"'
        super().__init__(case, ["sh", "-c", size, str(rows), str(columns), *argv], env)

    def resize(self, columns, rows):
        self.draw()
        self.emulator.resize(columns, rows)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, columns * 8, rows * 16))

    def draw(self):
        self.emulator.feed(self.text[self.drawn :])
        self.drawn = len(self.text)

    def lines(self):
        """The rows of the screen, without blanks at their ends."""
        self.draw()
        return ["".join(row).rstrip() for row in self.emulator.rows]

    def all_lines(self):
        """The same, below the rows that have scrolled off; without empty ones at the end."""
        shown = self.lines()
        rows = ["".join(row).rstrip() for row in self.emulator.history] + shown
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def margins(self):
        """The first and the last row that scroll."""
        self.draw()
        return self.emulator.top, self.emulator.bottom

    def rows_for_programs(self):
        """As the programs on the terminal are told."""
        return struct.unpack("HHHH", fcntl.ioctl(self.fd, termios.TIOCGWINSZ, bytes(8)))[0]

    def wait_for_row(self, y, word):
        """Reads until the row @y has @word, and returns it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if word in self.lines()[y]:
                return self.lines()[y]
            if not self.read():
                break
        raise AssertionError(f"not in row {y}: {word}; the screen has {self.lines()}")
