// SPDX-License-Identifier: BSD-2-Clause
#include "waits/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Parses a line of /proc/locks, or of fdinfo after "lock:". Returns false if it is malformed. */
static bool lock_parse(const char *line, struct file_lock *lock, bool *waits)
{
	const char *at = strchr(line, ':');
	char type[8], last[24] = "";

	memset(lock, 0, sizeof(*lock));
	if (!at)
		return false;
	at++;
	at += strspn(at, " \t");
	*waits = !strncmp(at, "->", 2);
	if (*waits)
		at += 2;
	lock->last = UINT64_MAX;
	/* a lease breaker has no file: "<none>:0" */
	if (sscanf(at, " %7s BREAKER %7s %d", lock->kind, type, &lock->pid) != 3 &&
	    sscanf(at, " %7s %*s %7s %d %x:%x:%" SCNu64 " %" SCNu64 " %23s", lock->kind, type,
		   &lock->pid, &lock->major, &lock->minor, &lock->inode, &lock->first, last) < 6)
		return false;
	if (sscanf(last, "%" SCNu64, &lock->last) != 1) /* "EOF" */
		lock->last = UINT64_MAX;
	lock->writes = !strcmp(type, "WRITE");
	return true;
}

static bool kind_is_of_bytes(const struct file_lock *lock)
{
	return !strcmp(lock->kind, "POSIX") || !strcmp(lock->kind, "OFDLCK");
}

bool lock_conflicts(const struct file_lock *held, const struct file_lock *request)
{
	if (held->inode != request->inode || held->major != request->major ||
	    held->minor != request->minor)
		return false;
	if (strcmp(held->kind, request->kind) != 0 &&
	    !(kind_is_of_bytes(held) && kind_is_of_bytes(request)))
		return false;
	if (!strcmp(held->kind, "LEASE"))
		return true;
	/* a process never conflicts with its own POSIX locks */
	if (!strcmp(held->kind, "POSIX") && !strcmp(request->kind, "POSIX") &&
	    held->pid == request->pid)
		return false;
	return (held->writes || request->writes) && held->first <= request->last &&
	       request->first <= held->last;
}

bool fdinfo_has_conflict(const char *text, const struct file_lock *request)
{
	struct file_lock held;
	bool waits;

	for (const char *at = strstr(text, "lock:"); at; at = strstr(at + 5, "lock:"))
		if (lock_parse(at + 5, &held, &waits) && !waits && lock_conflicts(&held, request))
			return true;
	return false;
}

/* Parses the first line of @text. Returns the text after it. */
static const char *locks_next(const char *text, struct file_lock *lock, bool *is_lock, bool *waits)
{
	size_t n = strcspn(text, "\n");
	char line[256];

	snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1), text);
	*is_lock = lock_parse(line, lock, waits);
	return text + n + (text[n] == '\n');
}

static bool lock_matches_request(const struct file_lock *lock, const struct file_lock *asked)
{
	return lock->pid == asked->pid && (!*asked->kind || !strcmp(lock->kind, asked->kind)) &&
	       (!asked->inode || !lock->inode || lock->inode == asked->inode) &&
	       (asked->first > asked->last ||
		(lock->first == asked->first && lock->last == asked->last));
}

bool locks_find(const char *text, struct file_lock *asked, struct file_lock *held)
{
	struct file_lock head = { .pid = 0 }, lock;
	bool has_head = false, is_lock, waits;

	while (*text) {
		text = locks_next(text, &lock, &is_lock, &waits);
		if (!is_lock) {
			has_head = false;
		} else if (!waits) {
			head = lock;
			has_head = true;
		} else if (has_head && lock_matches_request(&lock, asked)) {
			*held = head;
			if (!lock.inode) {
				lock.major = head.major;
				lock.minor = head.minor;
				lock.inode = head.inode;
			}
			*asked = lock;
			return true;
		}
	}
	return false;
}

const char *locks_next_holder(const char *text, const struct file_lock *request,
			      struct file_lock *held)
{
	bool is_lock, waits;

	while (*text) {
		text = locks_next(text, held, &is_lock, &waits);
		if (is_lock && !waits && lock_conflicts(held, request))
			return text;
	}
	return NULL;
}
