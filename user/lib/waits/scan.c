// SPDX-License-Identifier: BSD-2-Clause
#include "waits/scan.h"

#include "base/memory.h"
#include "waits/task.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MEMORY_NS (10 * NSEC_PER_SEC) /* a search of all processes costs tens of milliseconds */

static bool wait_follows(const struct wait *wait, pid_t pid)
{
	for (unsigned i = 0; i < wait->follows; i++)
		if (wait->follow[i] == pid)
			return true;
	return false;
}

void wait_follow(struct wait *wait, pid_t pid)
{
	if (wait->follows < WAIT_FOLLOWED && !wait_follows(wait, pid))
		wait->follow[wait->follows++] = pid;
}

void wait_add_peer(struct wait *wait, pid_t pid)
{
	struct task_stat stat;
	struct wait_peer *peer;

	if (wait_follows(wait, pid))
		return;
	wait_follow(wait, pid);
	if (wait->peers++ >= WAIT_PEERS)
		return;
	peer = &wait->peer[wait->peers - 1];
	peer->pid = pid;
	if (task_stat_read(pid, 0, &stat))
		return;
	peer->state = stat.state;
	memcpy(peer->comm, stat.comm, sizeof(peer->comm));
}

void wait_copy_peers(struct wait *wait, const struct wait *from)
{
	wait->has_other_end = true;
	wait->peers = from->peers;
	memcpy(wait->peer, from->peer, sizeof(wait->peer));
	wait->follows = from->follows;
	memcpy(wait->follow, from->follow, sizeof(wait->follow));
}

enum fit { FIT_NOT, FIT_PERHAPS, FIT_IS };

/* Checks fdinfo, which lists a lock even if the process that took it has exited. */
static enum fit fdinfo_fits(pid_t pid, int fd, const struct other_end *end)
{
	char text[8192];
	uint64_t value;

	if (fdinfo_read(pid, fd, text, sizeof(text)) < 0)
		return FIT_NOT;
	if (*end->request.kind)
		return fdinfo_has_conflict(text, &end->request) ? FIT_IS : FIT_NOT;
	if (fdinfo_number(text, end->key, &value))
		return value == end->value ? FIT_IS : FIT_NOT;
	return end->is_new_key ? FIT_PERHAPS : FIT_NOT;
}

static enum fit descriptor_fits(int folder, pid_t pid, const char *fd, const struct other_end *end)
{
	struct stat st;

	if (pid == end->own_pid && atoi(fd) == end->own_fd)
		return FIT_NOT;
	if (end->use != END_ANY && (fstatat(folder, fd, &st, AT_SYMLINK_NOFOLLOW) ||
				    !(st.st_mode & (end->use == END_READS ? S_IRUSR : S_IWUSR))))
		return FIT_NOT;
	return end->key || *end->request.kind ? fdinfo_fits(pid, atoi(fd), end) : FIT_IS;
}

static void found_add(struct found_end *f, pid_t pid)
{
	for (unsigned i = 0; i < f->nr && i <= WAIT_FOLLOWED; i++)
		if (f->pid[i] == pid)
			return;
	if (f->last == pid)
		return;
	f->last = pid;
	if (f->nr <= WAIT_FOLLOWED)
		f->pid[f->nr] = pid;
	f->nr++;
}

static void scan_descriptor(int folder, pid_t pid, const char *fd, struct found_end *ends,
			    size_t nr)
{
	char link[sizeof(ends->end.link)];
	ssize_t n = readlinkat(folder, fd, link, sizeof(link) - 1);
	enum fit fit;

	if (n <= 0)
		return;
	link[n] = '\0';
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(link, ends[i].end.link) != 0 || (ends[i].nr && ends[i].pid[0] == pid))
			continue;
		fit = descriptor_fits(folder, pid, fd, &ends[i].end);
		if (fit == FIT_IS)
			found_add(&ends[i], pid);
		else if (fit == FIT_PERHAPS && ends[i].without_key != pid)
			ends[i].without_key = ends[i].without_key ? -1 : pid;
	}
}

/* Searches the descriptors of a process. Returns false if they are unreadable. */
static bool scan_descriptors(pid_t pid, struct found_end *ends, size_t nr)
{
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = memory_opendir(path);
	if (!folder)
		return errno == ENOENT || errno == ESRCH;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			scan_descriptor(dirfd(folder), pid, entry->d_name, ends, nr);
	return true;
}

static void scan_machine(struct found_end *ends, size_t nr)
{
	__cleanup(closedirp) DIR *proc = memory_opendir("/proc");
	struct dirent *entry;
	bool all = proc != NULL;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    !scan_descriptors(atoi(entry->d_name), ends, nr))
			all = false;
	for (size_t i = 0; i < nr; i++)
		ends[i].all_readable = all;
}

static bool end_is(const struct other_end *a, const struct other_end *b)
{
	const struct file_lock *x = &a->request, *y = &b->request;

	return a->use == b->use && a->value == b->value && !strcmp(a->link, b->link) &&
	       a->own_pid == b->own_pid && a->own_fd == b->own_fd && !strcmp(x->kind, y->kind) &&
	       x->inode == y->inode && x->writes == y->writes && x->first == y->first &&
	       x->last == y->last;
}

static struct found_end *found_of(struct found_end *ends, size_t nr, const struct other_end *end)
{
	for (size_t i = 0; i < nr; i++)
		if (end_is(&ends[i].end, end))
			return &ends[i];
	return NULL;
}

/* Returns whether each waiting process has found another process with the end. */
static bool found_is_solved(const struct found_end *f, const struct scan_item *items, size_t nr)
{
	for (size_t i = 0; i < nr && f->nr == 1; i++)
		if (items[i].wait->pid == f->pid[0] && end_is(&f->end, items[i].end))
			return false;
	return f->nr > 0;
}

static void scan_ancestors(pid_t pid, struct found_end *ends, size_t nr)
{
	struct task_stat stat;

	for (int i = 0; i < 4 && !task_stat_read(pid, 0, &stat) && stat.parent > 1; i++) {
		pid = stat.parent;
		scan_descriptors(pid, ends, nr);
	}
}

/*
 * Adds the processes that had the end at the last search and still have it. Returns whether no new
 * search is needed.
 */
static bool found_recall(struct found_end *f, const struct scan_memory *memory)
{
	const struct found_end *old = found_of(memory->found, memory->nr, &f->end);

	if (!old)
		return false;
	for (unsigned i = 0; i < old->nr && i <= WAIT_FOLLOWED; i++)
		scan_descriptors(old->pid[i], f, 1);
	f->all_readable = old->all_readable;
	return clock_ns(CLOCK_MONOTONIC) - memory->since_ns < MEMORY_NS &&
	       f->nr >= (old->nr ? 1 : 0);
}

void scan_memory_done(struct scan_memory *m)
{
	free(m->found);
	memset(m, 0, sizeof(*m));
}

static void ends_search(struct found_end *ends, size_t nr, const struct scan_item *items,
			size_t nr_items, const pid_t *asked, size_t nr_asked,
			struct scan_memory *memory)
{
	size_t left = 0;

	for (size_t i = 0; i < nr_asked; i++)
		scan_descriptors(asked[i], ends, nr);
	/* pipes and socket pairs are inherited: search the ancestors */
	for (size_t i = 0; i < nr_items; i++) {
		struct found_end *f = found_of(ends, nr, items[i].end);

		if (!found_is_solved(f, items, nr_items))
			scan_ancestors(items[i].wait->pid, ends, nr);
	}
	/* move the unsolved ones to the front */
	for (size_t i = 0; i < nr; i++) {
		struct found_end f = ends[i];

		if (found_is_solved(&f, items, nr_items) || found_recall(&ends[i], memory))
			continue;
		f = ends[i];
		ends[i] = ends[left];
		ends[left++] = f;
	}
	if (!left)
		return;
	scan_machine(ends, left);
	scan_memory_done(memory);
	memory->found = memory_calloc(left, sizeof(*ends));
	if (memory->found) {
		memcpy(memory->found, ends, left * sizeof(*ends));
		memory->nr = left;
		memory->since_ns = clock_ns(CLOCK_MONOTONIC);
	}
}

static void item_finish(const struct scan_item *item, const struct found_end *f)
{
	struct wait *wait = item->wait;
	bool itself = false;

	if (!f->nr && f->without_key > 0 && f->all_readable)
		wait_add_peer(wait, f->without_key);
	for (unsigned i = 0; i < f->nr && i <= WAIT_FOLLOWED; i++) {
		if (f->pid[i] == wait->pid)
			itself = true;
		else
			wait_add_peer(wait, f->pid[i]);
	}
	if (f->nr > WAIT_FOLLOWED + 1)
		wait->peers += f->nr - (WAIT_FOLLOWED + 1);
	if (!wait->peers && item->end->may_be_own)
		wait->has_other_end = !itself;
	else if (!wait->peers && itself)
		wait_add_peer(wait, wait->pid);
	if (!f->all_readable)
		wait->unread |= WAIT_NO_OTHERS;
}

int scan_ends(struct scan_item *items, size_t nr, const pid_t *asked, size_t nr_asked,
	      struct scan_memory *memory)
{
	struct found_end *ends = memory_calloc(nr + 1, sizeof(*ends));
	size_t nr_ends = 0;

	if (!ends)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct other_end *end = items[i].end;

		if (found_of(ends, nr_ends, end))
			continue;
		ends[nr_ends].end = *end;
		ends[nr_ends].all_readable = true;
		/* descriptors of another user's process are unreadable: trust the kernel's pid */
		if (end->first && !scan_descriptors(end->first, &ends[nr_ends], 1))
			found_add(&ends[nr_ends], end->first);
		nr_ends++;
	}
	if (nr_ends && !asked)
		scan_machine(ends, nr_ends);
	else if (nr_ends)
		ends_search(ends, nr_ends, items, nr, asked, nr_asked, memory);
	for (size_t i = 0; i < nr; i++)
		item_finish(&items[i], found_of(ends, nr_ends, items[i].end));
	free(ends);
	return 0;
}
