// SPDX-License-Identifier: BSD-2-Clause
/* Executes the runs of a benchmark: each like `bpfmon --`, through one agent that tracks all. */
#include "agent/private.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/user.h"
#include "bpfmon/cmd_bench.h"
#include "bpfmon/prepare.h"
#include "run/meta.h"
#include "store/merge.h"
#include "store/source.h"
#include "study/bench_runner.h"
#include "study/result.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The lines of runs that are not in the store yet. Several runs are stored together, between runs
 * only, so that no run is disturbed.
 */
struct bench_keep {
	int fd;           /* unnamed file to which recorders append; -1: none */
	off_t begins;     /* offset of the present run */
	uint64_t last_ns; /* time of the last transfer, CLOCK_MONOTONIC */
	const char *store;
	const struct user *as; /* user that writes the store; NULL: this one */
};

struct execution {
	const struct bench_options *o;
	const struct bench_plan *p;
	struct bench_record *record;
	struct children children;
	struct private_agent agent;
	bool is_private; /* the agent was started here; else one is connected per run */
	struct launch_outcome *outcome; /* shared with the process of the run */
	int null_fd;
	struct user caller;
	struct bench_keep keep;
};

/* Formats how a process ended. */
static void status_format(char *out, size_t size, int status)
{
	if (WIFSIGNALED(status))
		snprintf(out, size, "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(out, size, "ended with %d", WEXITSTATUS(status));
}

static int execute_step(void *context, const struct bench_case *c, enum bench_step step)
{
	struct execution *x = context;
	const bool is_cleanup = step == BENCH_CLEANUP;
	const char *shell = x->o->shell && strcmp(x->o->shell, "none") != 0 ? x->o->shell : "sh";
	char how[64];
	int status;

	if (!is_cleanup && children_should_end(&x->children))
		return -EINTR;
	status = child_execute(&x->children, shell, c->steps[step],
			       x->o->show_output ? STDERR_FILENO : x->null_fd);
	if (x->children.end_signal && !is_cleanup)
		return -EINTR;
	if (!status)
		return 0;
	progress_clear();
	if (status < 0) {
		log_error("cannot start '%s': %s", c->steps[step], strerror(-status));
		return status;
	}
	status_format(how, sizeof(how), status);
	log_error("--%s '%s' %s; the benchmark ends here", bench_step_names[step], c->steps[step],
		  how);
	return -ECANCELED;
}

/* Tags of a run, up to MAX_TAGS. */
struct tag_texts {
	char *list[MAX_TAGS];
	size_t nr;
};

static void tag_add(struct tag_texts *t, const char *key, const char *value)
{
	char *text;

	if (t->nr < MAX_TAGS && memory_asprintf(&text, "%s=%s", key, value) >= 0)
		t->list[t->nr++] = text;
}

/* The benchmark's own tags come first; tags of the user with these keys were refused. */
static void tags_make(const struct execution *x, const struct bench_case *c,
		      const struct bench_turn *turn, struct run *run)
{
	const struct parameters *p = &x->p->parameters;
	const struct run_tags *own = &x->o->recording.tags;
	struct tag_texts t = { .nr = 0 };
	char number[32];

	tag_add(&t, BENCH_TAG, x->record->id);
	tag_add(&t, BENCH_CASE_TAG, c->label);
	snprintf(number, sizeof(number), "%zu", turn->round);
	tag_add(&t, BENCH_ROUND_TAG, number);
	snprintf(number, sizeof(number), "%" PRIu64, x->p->seed);
	tag_add(&t, BENCH_SEED_TAG, number);
	for (size_t i = 0; i < p->nr; i++)
		tag_add(&t, p->list[i].name, c->values[i]);
	run->nr_tags = 0;
	for (size_t i = 0; i < t.nr; i++)
		run->tags[run->nr_tags++] = t.list[i];
	for (size_t i = 0; i < own->nr && run->nr_tags < MAX_TAGS; i++)
		run->tags[run->nr_tags++] = own->list[i];
}

/*
 * Becomes the process of a run: does what `bpfmon --` does, with programs that are loaded already.
 */
static void run_become(const struct execution *x, const struct bench_case *c,
		       const struct bench_turn *turn)
{
	static struct user caller;
	const int streams[] = { x->null_fd, x->o->show_output ? STDOUT_FILENO : x->null_fd,
				x->o->show_output ? STDERR_FILENO : x->null_fd };
	struct launch_options l = { .agent_fd = -1 };
	struct run run = { 0 };

	children_leave(&x->children);
	recorder_choose_user(&x->o->recording, &caller, &l);
	if (x->is_private)
		l.agent_fd = private_agent_connect(&x->agent);
	else if (agent_choose(&l, &x->o->recording, NULL, false))
		_exit(EXIT_BPFMON);
	if (x->is_private && l.agent_fd < 0) {
		log_error("cannot connect to the process that measures the runs: %s",
			  strerror(-l.agent_fd));
		_exit(EXIT_BPFMON);
	}
	launch_prepare(&l, &x->o->recording, &caller, &run);
	tags_make(x, c, turn, &run);
	run.command = x->o->recording.no_args ? NULL : c->argv;
	if (!run.job)
		run.job = scheduler_job_id();
	l.recorder.quiet = true;
	if (turn->of || !turn->is_first)
		l.recorder.asked.nr = 0; /* one warning is enough */
	l.recorder.store = NULL;
	l.recorder.lines_fd = turn->is_warmup ? 0 : x->keep.fd;
	l.argv = c->argv;
	l.streams = streams;
	l.outcome = x->outcome;
	_exit(launcher_run(&l));
}

static void bench_keep_drop(struct bench_keep *k)
{
	if (ftruncate(k->fd, k->begins))
		log_warn("cannot discard the interrupted run, so it may be stored: %s",
			 strerror(errno));
}

static int bench_judge_run(struct execution *x, const struct bench_case *c,
			   const struct bench_turn *t, int status)
{
	const struct launch_outcome *out = x->outcome;
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BPFMON;
	char how[64];

	if (x->children.end_signal) {
		bench_keep_drop(&x->keep);
		return -EINTR;
	}
	if (!out->has_ended && WIFSIGNALED(status)) {
		log_error("the bpfmon process of %s %zu of '%s' was killed by signal %d; the "
			  "benchmark ends here",
			  t->is_warmup ? "warm-up" : "run", t->round, c->command, WTERMSIG(status));
		return -EIO;
	}
	if (!out->has_ended) /* already reported */
		return code == EXIT_NOT_FOUND || code == EXIT_NOT_EXECUTABLE ? -ECANCELED : -EIO;
	if (out->status && !x->o->ignore_failure) {
		status_format(how, sizeof(how), out->status);
		log_error("%s %zu of '%s' %s; use --show-output to see its output, or "
			  "--ignore-failure to continue",
			  t->is_warmup ? "warm-up" : "run", t->round, c->command, how);
		return -ECANCELED;
	}
	if (!t->is_warmup) {
		x->record->is_measured[t->of * x->p->runs + t->round - 1] = true;
		x->record->nr_measured++;
	}
	return 0;
}

/* Notes where the lines of the run begin, as they are dropped if it does not count. */
static void bench_keep_begin(struct bench_keep *k)
{
	struct stat st;

	k->begins = fstat(k->fd, &st) ? 0 : st.st_size;
}

#define KEEP_NS (5 * NSEC_PER_SEC) /* runs of the last 5 s are lost if bpfmon is killed */

/* Without lines it only creates the store, or checks it. */
static int lines_import(const struct bench_keep *k)
{
	struct store_writer w = { 0 };
	struct merged merged = { 0 };
	struct import i = { .w = &w, .merged = &merged };
	FILE *f = memory_fdopen(k->fd, "r");
	int err = k->as ? user_become(k->as) : 0;
	struct stat st;

	if (err || !f || fstat(k->fd, &st)) {
		log_error("cannot save the runs: %s", strerror(err ? -err : errno));
		return 1;
	}
	err = store_writer_open(&w, k->store);
	if (!err && st.st_size)
		err = fseek(f, 0, SEEK_SET) ? -errno : import_lines(&i, f);
	if (err)
		log_error("cannot save the runs in the store '%s': %s", k->store,
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
		log_error("cannot start the process that stores the runs: %s", strerror(errno));
	return status ? -EIO : 0;
}

/*
 * Moves the lines into the store, in a process with the rights of its user; without @is_last only
 * every KEEP_NS, because opening a store takes longer than a short run. Returns 0, or a negative
 * errno after a message; then the lines stay.
 */
static int bench_keep_store(struct bench_keep *k, bool is_last)
{
	struct stat st;

	if (fstat(k->fd, &st) || !st.st_size ||
	    (!is_last && clock_ns(CLOCK_MONOTONIC) - k->last_ns < KEEP_NS))
		return 0;
	/* a run stored before an error is recognized by its ID */
	return keep_execute(k) || ftruncate(k->fd, 0) ? -EIO : 0;
}

static int execute_run(void *context, const struct bench_case *c, const struct bench_turn *t)
{
	struct execution *x = context;
	pid_t pid;
	int status, err;

	if (children_should_end(
		    &x->children)) /* a signal may have come since the last child's end */
		return -EINTR;
	*x->outcome = (struct launch_outcome){ 0 };
	bench_keep_begin(&x->keep);
	pid = fork();
	if (!pid)
		run_become(x, c, t);
	if (pid < 0) {
		log_error("cannot start a run: %s", strerror(errno));
		return -EAGAIN;
	}
	status = child_wait(&x->children, pid);
	progress_add(1);
	err = bench_judge_run(x, c, t, status);
	return err ? err : bench_keep_store(&x->keep, false);
}

/*
 * Loads the programs once, if permitted; else there is an agent that has loaded them, or each run
 * loads its own.
 */
static int agent_begin(struct execution *x)
{
	const struct recording_options *r = &x->o->recording;
	const struct private_options options = { .interval_ns = r->interval_ns,
						 .net = r->net,
						 .io_kinds = r->io_kinds,
						 .verbose = r->verbose };
	struct launch_options l = { 0 };

	x->is_private = !geteuid() && !r->agent;
	if (x->is_private)
		return private_agent_start(&x->agent, &options);
	x->agent = (struct private_agent){ .fd = -1 };
	if (agent_choose(&l, r, NULL, false))
		return -EPERM;
	if (l.agent_fd >= 0)
		close(l.agent_fd);
	else
		log_note("the programs in the kernel are loaded for each run, which takes longer; "
			 "as root, or through an agent, they are loaded once");
	return 0;
}

static int execution_open(struct execution *x)
{
	uint32_t id = 0;

	x->outcome = mmap(NULL, sizeof(*x->outcome), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	do /* closed descriptors of 0 to 2 must be occupied: the command's own are moved there */
		x->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (x->null_fd >= 0 && x->null_fd <= STDERR_FILENO);
	x->record->is_measured = memory_calloc(x->p->nr * x->p->runs, sizeof(bool));
	if (x->outcome == MAP_FAILED || x->null_fd < 0 || !x->record->is_measured) {
		log_error("cannot prepare the runs: %s", strerror(errno));
		return -ENOMEM;
	}
	if (getrandom(&id, sizeof(id), 0) < 0)
		id = (uint32_t)getpid();
	snprintf(x->record->id, sizeof(x->record->id), "%08" PRIx32, id);
	return 0;
}

/* Creates the store if it does not exist. Returns 0, or a negative errno after a message. */
static int bench_keep_open(struct bench_keep *k, const char *store, const struct user *as)
{
	*k = (struct bench_keep){ .fd = memfd_create("bpfmon-bench", MFD_CLOEXEC),
				  .store = store,
				  .as = as };
	if (k->fd >= 0 && !fcntl(k->fd, F_SETFL, O_APPEND))
		return keep_execute(k); /* fails now rather than after all runs */
	log_error("cannot create the file in memory for the runs: %s", strerror(errno));
	return -ENOMEM;
}

static int keep_begin(struct execution *x)
{
	struct launch_options l = { 0 };
	struct run run = { 0 };

	recorder_choose_user(&x->o->recording, &x->caller, &l);
	launch_prepare(&l, &x->o->recording, &x->caller, &run);
	x->record->store = l.recorder.store;
	return bench_keep_open(&x->keep, l.recorder.store, l.record_as);
}

static void bench_keep_done(struct bench_keep *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

static void execution_close(struct execution *x)
{
	if (x->is_private)
		private_agent_end(&x->agent);
	x->record->end_signal = x->children.end_signal;
	children_leave(&x->children);
	bench_keep_done(&x->keep);
	if (x->outcome != MAP_FAILED)
		munmap(x->outcome, sizeof(*x->outcome));
	if (x->null_fd >= 0)
		close(x->null_fd);
}

static int execution_go(struct execution *x)
{
	static const struct bench_ops ops = { .step = execute_step, .run = execute_run };
	const struct bench_plan *p = x->p;
	int err, kept;

	if (!x->o->show_output)
		progress_begin("bench", "runs", (p->runs + p->warmups) * p->nr);
	err = bench_run(p, &ops, x);
	progress_end();
	kept = bench_keep_store(&x->keep, true);
	return err ? err : kept;
}

int bench_execute(const struct bench_options *o, const struct bench_plan *p, struct bench_record *r)
{
	struct execution x = { .o = o, .p = p, .record = r, .outcome = MAP_FAILED, .null_fd = -1 };
	int err;

	x.keep.fd = x.agent.fd = -1;
	*r = (struct bench_record){ .nr_measured = 0 };
	children_open(&x.children);
	err = execution_open(&x);
	if (!err)
		err = keep_begin(&x);
	if (!err)
		err = agent_begin(&x);
	if (!err)
		err = execution_go(&x);
	if (!err && children_should_end(&x.children)) /* what was measured is shown before */
		err = -EINTR;
	execution_close(&x);
	return err;
}

void bench_record_done(struct bench_record *r)
{
	free(r->is_measured);
	r->is_measured = NULL;
}
