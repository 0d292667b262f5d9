/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipes and terminals that we inherited, in a way that never blocks us. */
#ifndef BASE_REOPEN_H
#define BASE_REOPEN_H

/*
 * Puts into the place of @fd, a pipe or a terminal that is open for writing, a description of our
 * own, which does not block: that of @fd is shared with others, and O_NONBLOCK would be theirs,
 * too. Anything else, and what may not be opened again, stays as it is: 0 means that it was
 * replaced, a negative errno that it was not.
 */
int reopen_for_writing(int fd);

#endif
