// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon why: reports what live processes wait for, and which process holds up the others. */
#include "base/exit_status.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "bpfmon/named_feed.h"
#include "bpfmon/subcommands.h"
#include "bpfmon/why_gpus.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"
#include "store/live_source.h"
#include "waits/waits.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How to print the stack that the runtime of a process keeps, as Python's. */
struct stack_note {
	pid_t pid; /* 0: no process of the chain has such a runtime */
	char command[64];
	const char *tool; /* required program */
	bool is_installed;
};

/* A wait for a process outside of the examined ones, as of a client for its server. */
struct outside_note {
	const struct wait *client; /* NULL if there is none */
	pid_t pid;                 /* of the outside process */
	const char *comm;
};

struct why_options {
	struct common_options common;
	struct store_options store;
	const char *run; /* NULL if not given */
	enum print_format as;
	bool is_run;        /* a run is among the targets */
	struct sample last; /* the last one of the run; of several: of one that holds GPUs */
};

/* clang-format off */
#define AT(field) offsetof(struct why_options, field)

static const struct option_row why_rows[] = {
	{ "run", 0, "RUN", false, "Inspect the live processes of RUN, even if RUN is also a PID", text_parse, AT(run), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "Output format: text (default) or json", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group why_groups[] = {
	{ why_rows, 0, true },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

/* Returns 0 if @word is not a PID. */
static pid_t why_pid(const char *word)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(word, &end, 10);
	return *word >= '1' && *word <= '9' && !*end && !errno && pid <= INT_MAX ? (pid_t)pid : 0;
}

static void why_offer(const struct completion *c, const char *first)
{
	(void)first;
	completion_offer_pids(c);
	completion_offer_names(c);
}

static void why_help(void)
{
	puts("Usage: bpfmon why [OPTIONS] PID|RUN...\n"
	     "\n"
	     "Shows what live processes wait for: a lock, pipe, socket, child or futex, and which\n"
	     "process holds it; then what that process waits for, up to the one that blocks the\n"
	     "others. It reads /proc with the rights of the calling user; root sees more about "
	     "the\n"
	     "processes of other users. RUN is a current run: a name, the beginning of a UUID, or "
	     "a\n"
	     "number that is not a PID. It stands for all live processes of the run.\n");
	options_print(&subcommand_why);
	puts("Exit status: 0: success, 2: usage error, or no such live process or current run.");
}

static int why_take_process(void *context, const struct process_sample *p)
{
	/* this process, if it runs in the run itself */
	if (p->pid == getpid())
		return 0;
	return waits_add(context, p->pid, p->start_epoch_ns) < 0 ? -ENOMEM : 0;
}

/*
 * Adds the live processes of the run. Returns 0; -ENOENT if no run has that number; or another
 * negative errno after a message.
 */
static int why_add_run(struct why_options *o, struct waits *w, const char *word)
{
	char name[FEED_NAME_BYTES], why[256];
	struct sample last = { 0 };
	size_t before = waits_given(w);
	int err = named_feed_find(&o->store, word, name);

	if (err)
		return err;
	err = live_read_processes(name, why_take_process, w, &last, why, sizeof(why));
	if (!err && sample_has(&last, M_gpus_held) && last.value[M_gpus_held])
		o->last = last;
	if (!err && waits_given(w) > before)
		return 0;
	log_error("cannot inspect run '%s': %s", word, err ? why : "it has no live process");
	return -ESRCH;
}

static int why_add_pid(struct waits *w, pid_t pid)
{
	int at = waits_add(w, pid, 0);

	if (at < 0)
		log_error("why: %s", strerror(-at));
	return at < 0 ? at : 0;
}

/*
 * A number is a PID if such a process exists. One that neither a process nor a run has is reported
 * and left out: of several processes one may just have ended.
 */
static int why_add(struct why_options *o, struct waits *w, const char *word)
{
	pid_t pid = why_pid(word), command = pid ? launcher_command(pid) : 0;
	int err;

	/* the PID of a bpfmon stands for its command */
	if (pid && (!kill(pid, 0) || errno == EPERM))
		return why_add_pid(w, command ? command : pid);
	err = why_add_run(o, w, word);
	o->is_run = o->is_run || !err;
	if (err != -ENOENT)
		return err;
	log_error("no process %s exists, and no run has this number; see 'bpfmon list'", word);
	return 0;
}

static int why_add_all(struct why_options *o, struct waits *w)
{
	int err = o->run ? why_add_run(o, w, o->run) : 0;

	o->is_run = o->run != NULL;
	if (err == -ENOENT)
		log_error("no run %s in the store; see 'bpfmon list'", o->run);
	for (char **word = o->common.words; *word && !err; word++)
		err = why_add(o, w, *word);
	return err || waits_given(w) ? err : -ESRCH;
}

static void wait_print(const struct wait *wait, bool is_discovered)
{
	char text[WAIT_TEXT];

	wait_text(wait, text, sizeof(text));
	printf("%s%-7d %-15s %s\n", is_discovered ? "  " : "", wait->pid,
	       *wait->comm ? wait->comm : "-", text);
}

/* Selected by the beginning of the name of the process's executable. */
static const struct {
	const char *runtime, *tool, *command;
} stack_tools[] = {
	{ "python", "py-spy", "py-spy dump --pid" },
	{ "node", "node", "node inspect -p" },
	{ "java", "jstack", "jstack" },
	{ "ruby", "rbspy", "rbspy dump --pid" },
};

static bool tool_is_in_path(const char *tool)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *at) {
		size_t n = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)(n < 4000 ? n : 0), at, tool);
		if (n && n < 4000 && !access(path, X_OK))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

static bool stack_note_of(struct stack_note *n, const struct wait *wait)
{
	char path[64], exe[4096];
	const char *name = wait->comm;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", wait->pid);
	length = readlink(path, exe, sizeof(exe) - 1);
	if (length > 0) {
		exe[length] = '\0';
		name = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	}
	for (size_t i = 0; i < sizeof(stack_tools) / sizeof(*stack_tools); i++) {
		if (strncmp(name, stack_tools[i].runtime, strlen(stack_tools[i].runtime)) != 0)
			continue;
		n->pid = wait->pid;
		n->tool = stack_tools[i].tool;
		snprintf(n->command, sizeof(n->command), "%s %d", stack_tools[i].command,
			 wait->pid);
		n->is_installed = tool_is_in_path(n->tool);
		return true;
	}
	return false;
}

static void stack_note_find(struct stack_note *n, const struct waits *w,
			    const struct wait_reason *r)
{
	memset(n, 0, sizeof(*n));
	for (size_t i = 0; r->is_found && i < r->links; i++) {
		const struct wait *wait = waits_get(w, r->link[i]);

		if (wait->kind > WAIT_HIDDEN && wait->kind != WAIT_ZOMBIE && stack_note_of(n, wait))
			return;
	}
}

#define MOST_GENERATIONS 64

static bool process_is_given(const struct waits *w, pid_t pid)
{
	for (size_t i = 0; i < waits_given(w); i++)
		if (waits_get(w, i)->pid == pid)
			return true;
	return false;
}

/* Returns true if the process or an ancestor is examined. */
static bool process_is_inside(const struct waits *w, pid_t pid)
{
	char state;

	for (int i = 0; i < MOST_GENERATIONS && pid > 0; i++)
		if (process_is_given(w, pid) || pid == getpid())
			return true;
		else if (procstat_read(pid, &state, &pid))
			return false;
	return false;
}

/* Returns true if both are processes of one program, as those of bpfmon are. */
static bool peer_is_sibling(const struct wait *wait, const struct wait_peer *peer)
{
	pid_t parent;
	char state;

	return !strcmp(wait->comm, peer->comm) && wait->parent > 1 &&
	       !procstat_read(peer->pid, &state, &parent) && parent == wait->parent;
}

static bool wait_ends_outside(const struct waits *w, const struct wait *wait)
{
	/* a server has clients outside, too, but none of them holds it up */
	if (!wait->is_socket || wait->is_fed || !wait->peers)
		return false;
	for (unsigned i = 0; i < wait->peers && i < WAIT_PEERS; i++)
		if (process_is_inside(w, wait->peer[i].pid) ||
		    peer_is_sibling(wait, &wait->peer[i]))
			return false;
	return true;
}

/*
 * Finds the first process that waits for one at the other end of a socket which is neither examined
 * nor a descendant of those.
 */
static void outside_note_find(struct outside_note *n, const struct waits *w)
{
	memset(n, 0, sizeof(*n));
	for (size_t i = 0; i < waits_given(w); i++) {
		const struct wait *wait = waits_get(w, i);

		if (!wait_ends_outside(w, wait))
			continue;
		n->client = wait;
		n->pid = wait->peer[0].pid;
		n->comm = wait->peer[0].comm;
		return;
	}
}

static void notes_print(const struct waits *w, const struct wait_reason *reason, bool is_run)
{
	struct outside_note outside;
	struct stack_note stack;

	outside_note_find(&outside, w);
	if (outside.client)
		printf("outside: %d %s waits for %d (%s), which is %s\n", outside.client->pid,
		       outside.client->comm, outside.pid, outside.comm,
		       is_run ? "outside this run" : "not a descendant of a given process");
	stack_note_find(&stack, w, reason);
	if (!stack.pid)
		return;
	printf("stack: %s", stack.command);
	if (stack.is_installed)
		puts("");
	else
		printf(" (%s is not installed)\n", stack.tool);
}

static void why_print(const struct waits *w, const struct sample *last, bool is_run)
{
	struct wait_reason reason;
	char text[WAIT_TEXT];

	for (size_t i = 0; i < waits_number(w); i++)
		wait_print(waits_get(w, i), i >= waits_given(w));
	waits_reason(w, &reason);
	if (reason.is_found && (waits_number(w) > 1 || reason.is_idle)) {
		waits_reason_text(w, &reason, text, sizeof(text));
		printf("reason: %s\n", text);
	}
	why_gpus_print(w, last);
	notes_print(w, &reason, is_run);
}

/* Omits what is not known. */
static void text_put(struct jsonw *j, const char *key, const char *text)
{
	if (*text)
		jsonw_string(j, key, text);
}

static void peers_put(struct jsonw *j, const struct wait *wait)
{
	jsonw_uint(j, "peers", wait->peers);
	jsonw_array(j, "peer");
	for (unsigned i = 0; i < wait->peers && i < WAIT_PEERS; i++) {
		char state[2] = { wait->peer[i].state, '\0' };

		jsonw_object(j, NULL);
		jsonw_int(j, "pid", wait->peer[i].pid);
		text_put(j, "comm", wait->peer[i].comm);
		text_put(j, "state", state);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void unread_put(struct jsonw *j, unsigned unread)
{
	static const char *const words[] = { "channel", "call", "files", "others", "threads" };

	if (!unread)
		return;
	jsonw_array(j, "unread");
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (unread & 1u << i)
			jsonw_string(j, NULL, words[i]);
	jsonw_array_end(j);
}

static void wait_put(struct jsonw *j, const struct wait *wait, bool is_discovered)
{
	char text[WAIT_TEXT], state[2] = { wait->state, '\0' };

	wait_text(wait, text, sizeof(text));
	jsonw_object(j, NULL);
	jsonw_int(j, "pid", wait->pid);
	text_put(j, "comm", wait->comm);
	if (wait->start_epoch_ns)
		jsonw_decimal(j, "start_time", wait->start_epoch_ns, 9);
	text_put(j, "state", state);
	jsonw_bool(j, "asked", !is_discovered);
	jsonw_string(j, "wait", wait_kind_name(wait->kind));
	jsonw_string(j, "text", text);
	if (wait->tid)
		jsonw_int(j, "tid", wait->tid);
	if (wait->threads)
		jsonw_uint(j, "threads", wait->threads);
	text_put(j, "call", wait->call);
	text_put(j, "channel", wait->channel);
	if (wait->fd >= 0)
		jsonw_int(j, "fd", wait->fd);
	text_put(j, "object", wait->object);
	text_put(j, "lock", wait->lock);
	text_put(j, "mount", wait->mount);
	text_put(j, "file_system", wait->mount_type);
	if (wait->holder_tid)
		jsonw_int(j, "holder_tid", wait->holder_tid);
	if (wait->peers || wait->has_other_end)
		peers_put(j, wait);
	unread_put(j, wait->unread);
	why_gpu_files_json(j, wait);
	jsonw_object_end(j);
}

static void outside_put(struct jsonw *j, const struct waits *w)
{
	struct outside_note n;

	outside_note_find(&n, w);
	if (!n.client)
		return;
	jsonw_object(j, "outside");
	jsonw_int(j, "client", n.client->pid);
	jsonw_int(j, "pid", n.pid);
	text_put(j, "comm", n.comm);
	jsonw_object_end(j);
}

static void stack_put(struct jsonw *j, const struct waits *w, const struct wait_reason *reason)
{
	struct stack_note n;

	stack_note_find(&n, w, reason);
	if (!n.pid)
		return;
	jsonw_object(j, "stack");
	jsonw_int(j, "pid", n.pid);
	jsonw_string(j, "command", n.command);
	jsonw_bool(j, "installed", n.is_installed);
	jsonw_object_end(j);
}

static void reason_put(struct jsonw *j, const struct waits *w)
{
	struct wait_reason reason;
	char text[WAIT_TEXT];

	waits_reason(w, &reason);
	outside_put(j, w);
	stack_put(j, w, &reason);
	if (!reason.is_found)
		return;
	waits_reason_text(w, &reason, text, sizeof(text));
	jsonw_object(j, "reason");
	jsonw_string(j, "text", text);
	jsonw_bool(j, "runs", reason.runs);
	jsonw_bool(j, "deadlock", reason.is_deadlock);
	jsonw_bool(j, "idle", reason.is_idle);
	jsonw_array(j, "chain");
	for (size_t i = 0; i < reason.links; i++)
		jsonw_int(j, NULL, waits_get(w, reason.link[i])->pid);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static int why_print_json(const struct waits *w, const struct sample *last)
{
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_schema(&j, "why");
	jsonw_array(&j, "processes");
	for (size_t i = 0; i < waits_number(w); i++)
		wait_put(&j, waits_get(w, i), i >= waits_given(w));
	jsonw_array_end(&j);
	reason_put(&j, w);
	why_gpus_json(&j, last);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	return jsonw_print(&j, stdout);
}

static bool some_live(const struct waits *w)
{
	for (size_t i = 0; i < waits_given(w); i++)
		if (waits_get(w, i)->kind != WAIT_ENDED)
			return true;
	return false;
}

static int why_answer(const struct why_options *o, struct waits *w)
{
	int err = waits_read(w, true);

	/* distinguish failed allocations from absent values */
	if (!err && memory_has_failed())
		err = -ENOMEM;
	if (!err && o->as == PRINT_JSON)
		err = why_print_json(w, &o->last);
	else if (!err)
		why_print(w, &o->last, o->is_run);
	if (err)
		log_error("why: %s", strerror(-err));
	return !err && some_live(w) ? 0 : EXIT_USAGE;
}

static int cmd_why(int argc, char **argv)
{
	struct why_options o;
	int go_on = options_begin(&subcommand_why, &o, argc, argv), status;
	struct waits *w;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	w = waits_new();
	if (!w) {
		log_error("why: %s", strerror(ENOMEM));
		return EXIT_USAGE;
	}
	status = why_add_all(&o, w) ? EXIT_USAGE : why_answer(&o, w);
	waits_free(w);
	return status;
}

static int why_parse(void *options, int argc, char **argv)
{
	const struct why_options *o = options;
	int err = options_parse(&subcommand_why, options, argc, argv);

	if (err || o->common.help || o->common.version || o->run || o->common.words[0])
		return err;
	log_error("why: no process or run given; give a PID or name, as in: bpfmon why 4711");
	return -EINVAL;
}

const struct subcommand subcommand_why = {
	.name = "why",
	.summary = "show what processes wait for",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = why_offer },
	.run = cmd_why,
	.groups = why_groups,
	.options_bytes = sizeof(struct why_options),
	.parse = why_parse,
	.help = why_help,
};
