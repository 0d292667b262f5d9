// SPDX-License-Identifier: BSD-2-Clause
/* The runs of a benchmark on their way into the store: several at once, and between runs only, so
 * that no run is disturbed. */
#include "base/memory.h"
#include "bpfmon/cmd_bench.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/user.h"
#include "store/import.h"
#include "store/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP_NS (5 * NSEC_PER_SEC) /* runs of so long are lost if bpfmon is killed, or the last */

void bench_keep_begin(struct bench_keep *k)
{
	struct stat st;

	k->begins = fstat(k->fd, &st) ? 0 : st.st_size;
}

void bench_keep_drop(struct bench_keep *k)
{
	if (ftruncate(k->fd, k->begins))
		log_warn("the run that was interrupted is kept: %s", strerror(errno));
}

/* Of no lines only the store is made, or found to be one. */
static int lines_import(const struct bench_keep *k)
{
	struct store_writer w = { 0 };
	struct merged merged = { 0 };
	struct import i = { .w = &w, .merged = &merged };
	FILE *f = memory_fdopen(k->fd, "r");
	int err = k->as ? user_become(k->as) : 0;
	struct stat st;

	if (err || !f || fstat(k->fd, &st)) {
		log_error("cannot keep the runs: %s", strerror(err ? -err : errno));
		return 1;
	}
	err = store_writer_open(&w, k->store);
	if (!err && st.st_size)
		err = fseek(f, 0, SEEK_SET) ? -errno : import_lines(&i, f);
	if (err)
		log_error("cannot keep the runs in the store '%s': %s", k->store,
			  w.d.why[0] ? w.d.why : source_error(err));
	store_writer_close(&w);
	return err ? 1 : 0;
}

static int keep_execute(struct bench_keep *k)
{
	int status = -1;
	pid_t pid = fork();

	k->last_ns = clock_ns(CLOCK_MONOTONIC);
	if (!pid)
		_exit(lines_import(k));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		log_error("cannot start what keeps the runs: %s", strerror(errno));
	return status ? -EIO : 0;
}

int bench_keep_open(struct bench_keep *k, const char *store, const struct user *as)
{
	*k = (struct bench_keep){ .fd = memfd_create("bpfmon-bench", MFD_CLOEXEC),
				  .store = store,
				  .as = as };
	if (k->fd >= 0 && !fcntl(k->fd, F_SETFL, O_APPEND))
		return keep_execute(k); /* better now than after all runs */
	log_error("cannot make a file for the runs: %s", strerror(errno));
	return -ENOMEM;
}

int bench_keep_store(struct bench_keep *k, bool is_last)
{
	struct stat st;

	if (fstat(k->fd, &st) || !st.st_size ||
	    (!is_last && clock_ns(CLOCK_MONOTONIC) - k->last_ns < KEEP_NS))
		return 0;
	/* nothing twice; what was kept before an error is known by its id */
	return keep_execute(k) || ftruncate(k->fd, 0) ? -EIO : 0;
}

void bench_keep_done(struct bench_keep *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}
