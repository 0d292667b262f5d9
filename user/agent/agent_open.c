// SPDX-License-Identifier: BSD-2-Clause
/* Opens and closes the agent: configuration, socket, books and rights. */
#include "agent/agent.h"

#include "agent/porter.h"
#include "base/clock.h"
#include "measure/job.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "base/loop.h"
#include "base/procstat.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <libgen.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define QUEUED 1024 /* the kernel may allow fewer; further clients block in connect() */

/* The folder is accessible to all users, whatever the umask. */
static int folder_make(const char *folder)
{
	mode_t mask = umask(S_IWGRP | S_IWOTH);
	int err = mkdir(folder, 0755) && errno != EEXIST ? -errno : 0;

	umask(mask);
	errno = -err;
	return err;
}

/* A user that can change the folder could replace the socket by its own. */
static int folder_check(const char *path, char *why, size_t size)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *folder;
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	if (folder_make(folder)) {
		snprintf(why, size, "cannot create directory %s for the socket: %s", folder,
			 strerror(errno));
		return -errno;
	}
	if (lstat(folder, &st)) {
		snprintf(why, size, "cannot access directory %s: %s", folder, strerror(errno));
		return -errno;
	}
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	snprintf(why, size,
		 "users other than root can write to %s, the directory of the socket; see 'socket' "
		 "in the configuration",
		 folder);
	return -EPERM;
}

static bool socket_answers(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool answers = fd >= 0 && !connect(fd, (const struct sockaddr *)at, sizeof(*at));

	if (fd >= 0)
		close(fd);
	return answers;
}

/*
 * Binds and listens under a temporary name, so that no client finds a socket that does not listen
 * yet.
 */
static int socket_make(const struct sockaddr_un *at, int fd)
{
	struct sockaddr_un new = { .sun_family = AF_UNIX };

	if (snprintf(new.sun_path, sizeof(new.sun_path), "%s.%d", at->sun_path, getpid()) >=
	    (int)sizeof(new.sun_path))
		return -ENAMETOOLONG;
	unlink(new.sun_path);
	if (bind(fd, (struct sockaddr *)&new, sizeof(new)) || chmod(new.sun_path, 0666) ||
	    listen(fd, QUEUED) || rename(new.sun_path, at->sun_path))
		return -errno;
	return 0;
}

/* A socket passed by the service manager keeps the manager's folder, mode and path. */
static void socket_compare(int fd, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at) - 1;

	if (!getsockname(fd, (struct sockaddr *)&at, &size) && strcmp(at.sun_path, path) != 0)
		log_warn("ignoring 'socket = %s' of the configuration, because the service manager "
			 "passed %s",
			 path, at.sun_path);
}

/*
 * Returns the socket passed by the service manager, or a new one at @path, to which all users may
 * connect, in a folder that only root may change. On failure returns a negative errno, with a
 * sentence without a full stop in @why.
 */
static int agent_listen(const char *path, char *why, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = notify_take_socket(SOCK_SEQPACKET), err;

	if (fd >= 0) {
		socket_compare(fd, path);
		return fd;
	}
	if (fd == -EPROTOTYPE) {
		snprintf(why, size,
			 "the socket that the service manager passed is not one of "
			 "ListenSequentialPacket=");
		return fd;
	}
	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path)) {
		snprintf(why, size, "the path of the socket is too long: %s", path);
		return -ENAMETOOLONG;
	}
	err = folder_check(at.sun_path, why, size);
	if (err)
		return err;
	if (socket_answers(&at)) {
		snprintf(why, size, "another agent is already listening on %s", path);
		return -EADDRINUSE;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 ? -errno : socket_make(&at, fd);
	if (!err)
		return fd;
	snprintf(why, size, "cannot create the socket %s: %s", path, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Drops all rights but those that the agent needs: /proc files with the user and program of a
 * process are readable only for a tracer, the path of a cgroup is looked up by handle, and
 * iterators over one process are created for each client. @keeps_bpf: this kernel checks the
 * capabilities of BPF again at each drain.
 */
static void agent_drop_rights(int keeps_bpf)
{
	const uint64_t needed = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
				1ULL << CAP_BPF | 1ULL << CAP_PERFMON;

	privilege_bound(0);
	privilege_leave_root(keeps_bpf ? needed | 1ULL << CAP_SYS_ADMIN : needed);
	seccomp_install(SECCOMP_AGENT);
}

/* Event sources of the loop: clients, kernel records, timer and signals. */

#define ACCEPTS_AT_ONCE 64

static void handle_listening(void *context, uint32_t events)
{
	struct agent *a = context;
	int fd;

	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		fd = accept4(a->sources[AGENT_LISTENING].fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) { /* without descriptors the socket would stay ready forever */
			a->has_no_room = (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
					  errno == ENOBUFS) &&
					 !places_free_one(a);
			return;
		}
		peer_accept(a, fd);
	}
}

/* The owner ends the agent by exiting, too. */
static void handle_owner(void *context, uint32_t events)
{
	struct agent *a = context;
	struct control c;
	int got = message_receive(&a->clients, a->sources[AGENT_LISTENING].fd, &c);

	(void)events;
	if (got == -EAGAIN)
		return;
	if (got != 1 || c.type != CONTROL_CLIENT || a->clients.nr_fds != 1) {
		a->stops = true;
		return;
	}
	peer_accept(a, a->clients.fds[0]);
	a->clients.fds[0] = -1;
	message_done(&a->clients);
}

static void handle_node_records(void *context, uint32_t events)
{
	(void)events;
	books_consume(&((struct agent *)context)->books);
}

static void handle_timer(void *context, uint32_t events)
{
	struct agent *a = context;
	uint64_t passed;

	(void)events; /* agent_sample() reads the clock itself */
	if (read(a->sources[AGENT_TIMER].fd, &passed, sizeof(passed)) < 0)
		return;
}

static void handle_signals(void *context, uint32_t events)
{
	struct agent *a = context;
	struct signalfd_siginfo si;

	(void)events;
	while (read(a->sources[AGENT_SIGNALS].fd, &si, sizeof(si)) == sizeof(si)) {
		a->stops |= si.ssi_signo != SIGHUP;
		a->reloads |= si.ssi_signo == SIGHUP && !a->is_private;
	}
}

static int agent_source_add(struct agent *a, enum agent_source id, int fd,
			    void (*ready)(void *context, uint32_t events))
{
	a->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = a };
	return fd < 0 ? -errno : loop_add(&a->loop, &a->sources[id], EPOLLIN);
}

static int agent_open_listening(struct agent *a, const struct agent_options *o, char *why,
				size_t size)
{
	int fd = a->is_private ? o->clients_fd : agent_listen(a->config.socket, why, size);

	if (fd < 0)
		return fd;
	return agent_source_add(a, AGENT_LISTENING, fd,
				a->is_private ? handle_owner : handle_listening);
}

/*
 * Adds the sources to the loop of the agent. On failure returns a negative errno, with a sentence
 * without a full stop in @why, or "" where the errno suffices.
 */
static int agent_sources_open(struct agent *a, const struct agent_options *o, char *why,
			      size_t size)
{
	int err = agent_open_listening(a, o, why, size);

	if (err)
		return err;
	err = agent_source_add(a, AGENT_RECORDS, dup(tracker_events_fd(&a->books.tracker)),
			       handle_node_records);
	if (!err)
		err = agent_source_add(a, AGENT_TIMER,
				       timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				       handle_timer);
	return err;
}

/* Also needed after a failed agent_sources_open(). */
static void agent_sources_close(struct agent *a)
{
	/* closing the listening socket could block on descriptors in its queue */
	for (int i = 0; i < NR_AGENT_SOURCES; i++)
		if (a->sources[i].fd >= 0 && i != AGENT_LISTENING)
			close(a->sources[i].fd);
	loop_done(&a->loop);
}

#define PRIVATE_PACE_NS (10 * NSEC_PER_MSEC) /* the owner may start a run this often */

static bool agent_counts_blocks(struct agent *a)
{
	a->notices.lacks_block = a->config.block_io && !block_hierarchy_fits(&a->root);
	return a->config.block_io && !a->notices.lacks_block;
}

/* Reports of the books, dispatched to the jobs of the node and the runs of clients. */

static void agent_drain_begin(void *context)
{
	struct agent *a = context;

	node_drain_begin(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.view.books)
			job_drain_begin(&p->tenant->job);
}

static void agent_drain_end(void *context)
{
	struct agent *a = context;

	node_drain_end(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.view.books)
			job_drain_end(&p->tenant->job);
}

static void target_ignore(void *context, const struct cgroup_event *e)
{
	(void)context, (void)e;
}

static void node_total_take(void *context, const struct account_key *key,
			    const struct account *total)
{
	node_total(&((struct agent *)context)->node, key, total);
}

static void node_ended_take(void *context, const struct process_record *r)
{
	node_ended(&((struct agent *)context)->node, r);
}

static void node_slice_take(void *context, const struct slice *slice)
{
	node_slice(&((struct agent *)context)->node, slice);
}

static void node_oom_take(void *context, const struct oom_event *e)
{
	node_oom(&((struct agent *)context)->node, e);
}

static void node_begun_take(void *context, const struct account_key *key)
{
	node_begun(&((struct agent *)context)->node, key);
}

static void node_removed_take(void *context, const struct account_key *key,
			      const struct account *total)
{
	node_removed(&((struct agent *)context)->node, key, total);
}

static void node_cgroup_take(void *context, const struct cgroup_name_event *e)
{
	node_cgroup(&((struct agent *)context)->node, e);
}

static void node_empty_take(void *context, const struct account_key *key)
{
	struct agent *a = context;

	(void)key;
	for (struct peer *p = a->peers; p; p = p->next)
		p->may_be_empty = true;
}

static const struct books_ops agent_reports = {
	.drain_begin = agent_drain_begin,
	.total = report_total,
	.slice = report_slice,
	.socket = report_socket,
	.unread = report_unread,
	.drain_end = agent_drain_end,
	.process = report_process,
	.oom = report_oom,
	.cgroup = target_ignore,
	.node_total = node_total_take,
	.node_slice = node_slice_take,
	.node_ended = node_ended_take,
	.node_oom = node_oom_take,
	.node_begun = node_begun_take,
	.node_removed = node_removed_take,
	.node_cgroup = node_cgroup_take,
	.node_empty = node_empty_take,
};

/* Takes over the books of the agent before if they have the same programs, else loads new ones. */
static int books_begin(struct agent *a, struct tracker_options *options, char *why, size_t size)
{
	int err;

	options->kept = a->handover.state ? &a->handover.kept : NULL;
	err = books_open(&a->books, options, &agent_reports, a, why, size);
	if (err == -ESTALE) {
		books_close(&a->books);
		options->kept = NULL;
		err = books_open(&a->books, options, &agent_reports, a, why, size);
	}
	handover_begin(&a->handover, options->kept != NULL);
	return err;
}

/* Finds all tasks and continues jobs and runs of the agent before. */
static int tasks_begin(struct agent *a, bool same_books)
{
	int err = same_books ? 0 : tracker_seed_node(&a->books.tracker);

	handover_resume_runs(a);
	if (same_books) { /* before their records come */
		node_resume(&a->node);
		books_name_owned(&a->books);
	}
	books_consume(&a->books);
	books_drain(&a->books, true);
	handover_resume_clients(a);
	return err;
}

static int agent_open_books(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	struct tracker_options options = {
		.want_memory = true,
		.can_seed = true,
		.can_move = true,
		.may_end = true,
		.whole_node = true,
		.only_runs = a->is_private, /* a private agent has no jobs of the node */
		.cgroup = &a->root,
		/* selects maps of which a drain reads every bucket; a short run has two drains */
		.interval_ns = a->is_private ? PRIVATE_PACE_NS : a->config.interval_ns,
		.max_tasks = (unsigned)a->config.max_tasks,
		.inject_misses = o->inject_misses,
		.refusals = o->refusals,
		.verbose = o->verbose,
	};
	int err = cgroups_find_root(a->config.hierarchy, &a->root, why, size);

	metric_set_all(&options.wanted);
	if (!a->config.net)
		metric_set_clear_source(&options.wanted, SOURCE_NET);
	if (!a->config.io_kinds)
		metric_set_clear_source(&options.wanted, SOURCE_KINDS);
	if (!task_delays_are_kept())
		metric_set_clear_source(&options.wanted, SOURCE_DELAY);
	if (!err && !agent_counts_blocks(a))
		metric_set_clear_source(&options.wanted, SOURCE_BLOCK);
	if (!err)
		err = books_begin(a, &options, why, size);
	if (!err)
		err = node_open(&a->node, &a->books, &a->root, a->rules, &a->stream,
				a->config.interval_ns, &a->handover.node);
	if (err)
		return err;
	slurm_labels_open(&a->node.slurm, a->config.socket);
	/* set after node_open(), so that the node itself never stalls */
	a->node.stalled_below_ppm = a->config.stalled_below_ppm;
	a->node.stalled_after_ns = a->config.stalled_after_ns;
	err = tasks_begin(a, options.kept);
	if (!err)
		unseen_find(a);
	node_start(&a->node);
	return err;
}

static int agent_configure(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	a->clients.limit = sizeof(((struct control *)0)->text);
	a->is_private = o->given != NULL;
	a->handover.is_on = o->hands_over && getenv("NOTIFY_SOCKET");
	a->notices.no_history = o->no_history;
	if (!a->is_private)
		return config_read(o->config, &a->config, why, size);
	a->config = *o->given;
	return 0;
}

int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	int err = agent_configure(a, o, why, size);

	if (!err)
		err = rules_open(&a->config, &a->rules, why, size);
	if (!err)
		err = loop_init(&a->loop);
	if (!err) /* before there are threads, which must not get a signal */
		err = agent_source_add(a, AGENT_SIGNALS, signals_take(false), handle_signals);
	a->porter = o->porter;
	if (!err && a->porter.fd >= 0)
		err = door_open(a);
	if (a->handover.is_on)
		handover_take(&a->handover);
	if (!err) /* before there are jobs, so that the archive gets all their lines */
		err = archive_open(a, o->history_stream_fd, o->history_control_fd);
	if (!err)
		err = agent_open_books(a, o, why, size);
	if (!err)
		err = agent_sources_open(a, o, why, size);
	if (!err)
		agent_drop_rights(tracker_may_drain(&a->books.tracker));
	handover_release(&a->handover);
	a->started_ns = clock_ns(CLOCK_MONOTONIC);
	a->due_ns = a->started_ns + a->config.interval_ns;
	return err;
}

void agent_close(struct agent *a)
{
	if (a->node.whole.view.books && !a->handover.is_done)
		node_end(&a->node);
	agent_end_naming(a);
	archive_close(&a->archive);
	node_done(&a->node);
	books_close(&a->books);
	node_stream_done(&a->stream);
	message_done(&a->clients);
	door_close(a);
	agent_sources_close(a);
	rules_close(a->rules);
	config_done(&a->config);
}

#define AT_START(key, member)                                                                      \
	{                                                                                          \
		key, offsetof(struct agent_config, member),                                        \
			sizeof(((struct agent_config *)0)->member)                                 \
	}

/* Keys that take effect only when the agent starts. */
static const struct start_key {
	const char *key;
	size_t offset, bytes;
} start_keys[] = {
	AT_START("socket", socket),         AT_START("hierarchy", hierarchy),
	AT_START("max_tasks", max_tasks),   AT_START("net", net),
	AT_START("io_kinds", io_kinds),     AT_START("block_io", block_io),
	AT_START("store", store),           AT_START("keep_days", keep_days),
	AT_START("keep_bytes", keep_bytes), AT_START("min_seconds", min_ns),
};

static bool start_key_is_same(const struct start_key *k, const char *a, const char *b)
{
	return k->bytes == CONFIG_TEXT_BYTES ? !strcmp(a, b) : !memcmp(a, b, k->bytes);
}

/*
 * Gives @now the values with which the agent has started, because it still works with these: what
 * it offers to clients depends on them. Writes the keys that differed to @changed.
 */
static void config_keep_started(const struct agent_config *started, struct agent_config *now,
				char *changed, size_t size)
{
	size_t used = 0;

	*changed = '\0';
	for (size_t i = 0; i < sizeof(start_keys) / sizeof(*start_keys); i++) {
		const struct start_key *k = &start_keys[i];
		const char *was = (const char *)started + k->offset;
		char *is = (char *)now + k->offset;

		if (start_key_is_same(k, was, is))
			continue;
		used += (size_t)snprintf(changed + used, size - used, "%s%s", used ? ", " : "",
					 k->key);
		memcpy(is, was, k->bytes);
	}
}

int agent_reload_config(struct agent *a, char *why, size_t size)
{
	struct agent_config now;
	struct rules *rules;
	char changed[200];
	int err = config_read(a->config.path[0] ? a->config.path : NULL, &now, why, size);

	if (err)
		return err;
	err = rules_open(&now, &rules, why, size);
	if (err) {
		config_done(&now);
		return err;
	}
	config_keep_started(&a->config, &now, changed, sizeof(changed));
	if (*changed)
		log_warn("changed in the configuration, and not in effect until the agent is "
			 "restarted: %s",
			 changed);
	node_set_rules(&a->node, rules);
	rules_close(a->rules);
	config_done(&a->config);
	a->rules = rules;
	a->config = now;
	notices_update(a);
	a->node.interval_ns = now.interval_ns; /* for jobs that begin from now on */
	a->node.stalled_after_ns = now.stalled_after_ns;
	a->node.stalled_below_ppm = now.stalled_below_ppm;
	return 0;
}
