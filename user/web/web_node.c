// SPDX-License-Identifier: BSD-2-Clause
#include "web/web_node.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/agent_call.h"
#include "store/node_jobs.h"
#include "store/node_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define PATIENCE_SECONDS 10 /* timeout of a line of the agent */
#define UUID_LENGTH 36
/* bytes of a line that contain kind and run; of a meta line also the version of the program */
#define NAMED_WITHIN 160

bool node_line_is_of(const char *text, size_t length, const char *uuid)
{
	size_t head = length < NAMED_WITHIN ? length : NAMED_WITHIN;

	return memmem(text, head, uuid, UUID_LENGTH);
}

bool job_ref_is_valid(const char *ref)
{
	return strlen(ref) == UUID_LENGTH && strspn(ref, "0123456789abcdef-") == UUID_LENGTH;
}

/* Returns the answer of the agent, or NULL with the reason in *@err. The caller closes it. */
static FILE *node_call(const char *socket, bool once, int *err)
{
	const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	struct agent_call call;
	char why[512];
	FILE *f;

	*err = agent_call_node(&call, socket, once, why, sizeof(why));
	if (*err) {
		log_info("not showing the jobs of the node: %s", why);
		return NULL;
	}
	setsockopt(call.stream_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	f = memory_fdopen(call.stream_fd, "r");
	*err = f ? 0 : -ENOMEM;
	if (f)
		call.stream_fd = -1;
	agent_call_done(&call);
	return f;
}

int node_read_jobs(const char *socket, const char *uuid, struct node_job_rows *rows, FILE *kept)
{
	__cleanup(freep) char *line = NULL;
	__cleanup(fclosep) FILE *f = NULL;
	bool is_last = false;
	size_t room = 0;
	ssize_t n;
	int err;

	*rows = (struct node_job_rows){ 0 };
	f = node_call(socket, true, &err);
	while (!err && !is_last && (n = memory_getline(&line, &room, f)) > 0) {
		err = node_jobs_take(rows, line, (size_t)n, &is_last);
		if (uuid && node_line_is_of(line, (size_t)n, uuid))
			fwrite(line, 1, (size_t)n, kept);
	}
	if (!err && !is_last)
		err = -ECONNRESET;
	if (err && f)
		log_info("the list from the agent is incomplete: %s", strerror(-err));
	return err;
}

bool node_has_job(const struct node_job_rows *rows, const char *uuid)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (!strcmp(rows->all[i].run, uuid))
			return true;
	return false;
}

static int node_open_kept(const char *socket, const char *uuid, struct source *s)
{
	const struct run_filter only = { .uuid = uuid };
	struct stored_runs found = { 0 };
	int err = node_store_query(socket, &only, &found);

	if (!err)
		err = found.nr ? node_store_open(socket, found.runs[0].id, s) : -ENOENT;
	stored_runs_done(&found);
	return err;
}

int node_open_job(const char *socket, const char *uuid, struct source *s)
{
	__cleanup(fclosep) FILE *now = memory_tmpfile();
	struct node_job_rows rows = { 0 };
	char path[40];
	int err = now ? node_read_jobs(socket, uuid, &rows, now) : -errno;
	bool is_running = !err && node_has_job(&rows, uuid);

	if (!err)
		err = rows.has_history ? node_open_kept(socket, uuid, s) : -ENOENT;
	if (err == -ENOENT && is_running) {
		fflush(now);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(now));
		err = source_open_file(s, path);
	}
	if (!err)
		s->is_running = is_running;
	node_jobs_done(&rows);
	return err;
}

int node_subscribe(const char *socket)
{
	int err, fd;
	FILE *f = node_call(socket, false, &err);

	if (!f)
		return err;
	fd = fcntl(fileno(f), F_DUPFD_CLOEXEC,
		   0); /* before any read, so no data is lost in the buffer of @f */
	err = fd < 0 ? -errno : 0;
	fclose(f);
	if (!err && fcntl(fd, F_SETFL, O_NONBLOCK))
		err = -errno;
	return err ? err : fd;
}

void node_stalls_write(const struct node_job_rows *jobs, struct jsonw *j)
{
	jsonw_object(j, "stalls");
	for (size_t i = 0; i < jobs->nr; i++) {
		if (!jobs->all[i].stall.is_stalled)
			continue;
		jsonw_object(j, jobs->all[i].run);
		stall_state_write(&jobs->all[i].stall, j);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

/* Writes a running job with the keys of `bpfmon list --json`. */
static void job_write(const struct node_job_row *r, struct jsonw *j)
{
	static const enum metric_id shown[] = { M_cpu, M_rss };
	static const char *const keys[] = { "cpu_seconds", "rss_bytes" };

	jsonw_object(j, NULL);
	jsonw_string(j, "run", r->run);
	jsonw_string(j, "job", r->id);
	jsonw_string(j, "name", r->title ? r->title : r->name);
	jsonw_string(j, "user", r->user);
	jsonw_string(j, "state", "running");
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		if (metric_has(&r->have, shown[i]))
			jsonw_decimal(j, keys[i], r->value[shown[i]], metric_decimals(shown[i]));
	jsonw_object_end(j);
}

void node_jobs_write(const struct node_job_rows *jobs, struct jsonw *j)
{
	for (size_t i = 0; i < jobs->nr; i++)
		job_write(&jobs->all[i], j);
}
