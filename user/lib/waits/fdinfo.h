/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says about an open descriptor of a process: /proc/PID/fd and fdinfo. */
#ifndef WAITS_FDINFO_H
#define WAITS_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What it is open for: "pipe:[4711]", or a path, whole or not at all. False: it may not be read. */
bool descriptor_link(pid_t pid, int fd, char *link, size_t size);
bool link_is_terminal(const char *link);
/* The inode of the socket that the link is of; 0: it is of none. */
uint64_t link_socket(const char *link);
/* Its fdinfo. The length of the text, which is ended and may be cut, or a negative errno. */
ssize_t fdinfo_read(pid_t pid, int fd, char *text, size_t size);
/* The number after "KEY:" at the beginning of a line. False: there is none. */
bool fdinfo_number(const char *text, const char *key, uint64_t *number);

#endif
