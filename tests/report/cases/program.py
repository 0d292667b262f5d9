# SPDX-License-Identifier: BSD-2-Clause
"""The programs of the cases.

Usage: program.py spin SECONDS | hold MIB SECONDS | lock FILE SECONDS | move FILE SECONDS
"""

import fcntl
import os
import socket
import sys
import time

MIB = 1 << 20


def spin(seconds):
    """Uses so much CPU time."""
    print("at work", flush=True)
    end = time.process_time() + float(seconds)
    while time.process_time() < end:
        pass


def hold(mib, seconds):
    """Takes so much memory bit by bit, with half a CPU."""
    kept = []
    for _ in range(int(mib)):
        kept.append(b"\1" * MIB)
        begin = time.process_time()
        while time.process_time() < begin + float(seconds) / int(mib) / 2:
            pass
        time.sleep(float(seconds) / int(mib) / 2)


def lock(path, seconds):
    """Becomes a sleep that has the lock of a file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)
    os.set_inheritable(file, True)
    print("held", flush=True)
    os.execvp("sleep", ["sleep", seconds])


def move(path, seconds):
    """Moves bytes in turns through a file, a pipe, and a socket."""
    data = bytes(64 << 10)
    reader, writer = os.pipe()
    one, other = socket.socketpair()
    end = time.monotonic() + float(seconds)
    with open(path, "wb", buffering=0) as file:
        while time.monotonic() < end:
            for _ in range(8):
                file.write(data)
            os.write(writer, data[: 32 << 10])
            os.read(reader, 32 << 10)
            one.send(data[: 16 << 10])
            other.recv(16 << 10)
            time.sleep(0.01)
    os.unlink(path)


{"spin": spin, "hold": hold, "lock": lock, "move": move}[sys.argv[1]](*sys.argv[2:])
