/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes inherited pipes and terminals non-blocking without changing them for other processes. */
#ifndef BASE_REOPEN_H
#define BASE_REOPEN_H

/*
 * Replaces @fd, a pipe or a terminal that is open for writing, by a new file description with
 * O_NONBLOCK: the old one is shared with other processes, and the flag would apply to them, too.
 * 0: replaced; a negative errno: @fd is unchanged, because it is something else or may not be
 * opened again.
 */
int reopen_for_writing(int fd);

#endif
