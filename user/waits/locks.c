// SPDX-License-Identifier: BSD-2-Clause
#include "waits/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool lock_parse(const char *line, struct file_lock *lock, bool *waits)
{
	const char *at = strchr(line, ':');

	if (!at)
		return false;
	at++;
	at += strspn(at, " \t");
	*waits = !strncmp(at, "->", 2);
	if (*waits)
		at += 2;
	return sscanf(at, " %7s %*s %*s %d %x:%x:%" SCNu64, lock->kind, &lock->pid, &lock->major,
		      &lock->minor, &lock->inode) == 5;
}

bool locks_find(const char *text, pid_t pid, uint64_t inode, struct file_lock *held)
{
	struct file_lock head = { .pid = 0 }, lock;
	bool has_head = false, waits;
	char line[256];

	while (*text) {
		size_t n = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1),
			 text);
		text += n + (text[n] == '\n');
		if (!lock_parse(line, &lock, &waits)) {
			has_head = false;
		} else if (!waits) {
			head = lock;
			has_head = true;
		} else if (has_head && lock.pid == pid && (pid != -1 || lock.inode == inode)) {
			*held = head;
			return true;
		}
	}
	return false;
}
