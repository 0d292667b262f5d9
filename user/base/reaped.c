// SPDX-License-Identifier: BSD-2-Clause
#include "base/reaped.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#define BLOCK_BYTES 512 /* of ru_inblock, ru_oublock */

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

int reaped_wait(struct reaped *r, pid_t pid)
{
	struct proc_io io = { 0 };
	struct proc_stat stat = { 0 };
	bool has_io = !proc_io_read(pid, &io);
	struct rusage used;
	pid_t got;
	int status;

	if (proc_stat_read(pid, &stat))
		stat = (struct proc_stat){ 0 };
	do
		got = wait4(pid, &status, 0, &used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (!has_io) { /* newer kernels refuse it to ordinary users */
		io.read_bytes = (uint64_t)used.ru_inblock * BLOCK_BYTES;
		io.write_bytes = (uint64_t)used.ru_oublock * BLOCK_BYTES;
	}
	r->processes++;
	r->last = pid;
	r->status = status;
	r->last_user_ns = timeval_ns(&used.ru_utime);
	r->last_system_ns = timeval_ns(&used.ru_stime);
	r->last_children_user_ns = stat.children_user_ns;
	r->last_children_system_ns = stat.children_system_ns;
	r->user_ns += r->last_user_ns;
	r->system_ns += r->last_system_ns;
	r->minflt += (uint64_t)used.ru_minflt;
	r->majflt += (uint64_t)used.ru_majflt;
	r->nvcsw += (uint64_t)used.ru_nvcsw;
	r->nivcsw += (uint64_t)used.ru_nivcsw;
	proc_io_add(&r->io, &io);
	r->io_unread += !has_io;
	r->last_is_unread = !has_io;
	return 0;
}

void reaped_print(const struct reaped *r, char *text, size_t size)
{
	snprintf(text, size,
		 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		 " %" PRIu64 " %d %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		 r->user_ns, r->system_ns, r->minflt, r->majflt, r->nvcsw, r->nivcsw, r->io.rchar,
		 r->io.wchar, r->io.syscr, r->io.syscw, r->io.read_bytes, r->io.write_bytes,
		 r->io.cancelled_write_bytes, r->processes, r->io_unread, r->last_is_unread,
		 r->last, r->status, r->last_user_ns, r->last_system_ns, r->last_children_user_ns,
		 r->last_children_system_ns);
}

bool reaped_scan(struct reaped *r, const char *text)
{
	return sscanf(text,
		      "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d %d %d %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64,
		      &r->user_ns, &r->system_ns, &r->minflt, &r->majflt, &r->nvcsw, &r->nivcsw,
		      &r->io.rchar, &r->io.wchar, &r->io.syscr, &r->io.syscw, &r->io.read_bytes,
		      &r->io.write_bytes, &r->io.cancelled_write_bytes, &r->processes,
		      &r->io_unread, &r->last_is_unread, &r->last, &r->status, &r->last_user_ns,
		      &r->last_system_ns, &r->last_children_user_ns,
		      &r->last_children_system_ns) == 22;
}
