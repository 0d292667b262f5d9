// SPDX-License-Identifier: BSD-2-Clause
#include "waits/fdinfo.h"

#include "waits/task.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool descriptor_link(pid_t pid, int fd, char *link, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	n = fd >= 0 ? readlink(path, link, size) : -1;
	if (n <= 0 || (size_t)n == size)
		n = 0;
	link[n] = '\0';
	return n > 0;
}

bool link_is_terminal(const char *link)
{
	return !strncmp(link, "/dev/pts/", 9) || !strncmp(link, "/dev/tty", 8) ||
	       !strcmp(link, "/dev/console");
}

uint64_t link_socket(const char *link)
{
	uint64_t inode = 0;

	return sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

ssize_t fdinfo_read(pid_t pid, int fd, char *text, size_t size)
{
	char path[64];

	text[0] = '\0';
	if (fd < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return proc_read(path, text, size);
}

bool fdinfo_number(const char *text, const char *key, uint64_t *number)
{
	size_t n = strlen(key);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		const char *digits = text + n + 1;

		if (strncmp(text, key, n) != 0 || text[n] != ':')
			continue;
		digits += strspn(digits, " \t");
		*number = strtoull(digits, NULL, 10);
		return isdigit((unsigned char)*digits);
	}
	return false;
}
