// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon check: reports whether bpfmon can run on this machine, feature by feature, and its options
 * files.
 */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "bpfmon/recording_options.h"
#include "options/settings.h"

#include "base/exit_status.h"
#include "base/agent_socket.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/proc_connector.h"
#include "base/procstat.h"
#include "base/user.h"
#include "measure/capability.h"
#include "measure/energy_part.h"
#include "measure/gpu_reader.h"
#include "measure/program_type.h"
#include "measure/tracker.h"
#include "text/format.h"
#include "text/terminal.h"
#include "bpfmon/subcommands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_CANNOT 1
#define TITLE_COLUMNS 36

struct check_options {
	struct common_options common;
	enum print_format as;
	bool verbose;
	const char *agent;        /* NULL: that at AGENT_SOCKET, if it is needed */
	struct refusals refusals; /* for tests */
};

/* clang-format off */
#define AT(field) offsetof(struct check_options, field)

static const struct option_row check_rows[] = {
	{ "format", 'f', "FORMAT", false, "Output format: text (default), or json, one object per line", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "List all features and metrics, not only what is missing", flag_parse, AT(verbose), GUARD_NONE },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse a program, or all of a type, as in fexit", inject_no_program_parse, AT(refusals), GUARD_TEST },
	{ 0 }
};

static const struct option_row check_agent_rows[] = {
	{ "agent", 0, "SOCKET", false, "Check runs through the agent at SOCKET", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group check_groups[] = {
	{ check_rows, 0, false },
	{ check_agent_rows, 0, true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int check_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_check, options, argc, argv);
}

static void check_help(void)
{
	puts("Usage: bpfmon check [OPTIONS]\n"
	     "\n"
	     "Shows how a run is measured on this machine, and what would improve it; then what\n"
	     "the kernel does not provide or permit, and what each of these needs; then which\n"
	     "configuration files were read, and what they set.\n");
	options_print(&subcommand_check);
	puts("Exit status: 0: bpfmon can measure, 1: it cannot, 2: usage error.");
}

/* The findings, as texts. */
struct found {
	enum print_format as;
	bool is_whole; /* the texts have what is available and what is not needed, too */
	FILE *rows, *without;
	char *rows_text, *without_text; /* owned; set when the files are closed */
	size_t rows_length, without_length;
	unsigned nr_off;          /* delay metrics that are switched off in the kernel */
	char why[512];            /* why the programs cannot be loaded; empty: they can */
	const char *source;       /* of a run here: "bpf", "agent", "procfs"; NULL: none */
	const char *agent;        /* that the options name; NULL: none */
	char why_no_agent[512];   /* why that one does not answer */
	char why_no_packets[256]; /* why programs of cgroups are refused; empty: they are not */
};

static int found_open(struct found *x, const struct check_options *o)
{
	*x = (struct found){ .as = o->as, .is_whole = o->verbose, .agent = o->agent };
	x->rows = memory_open_memstream(&x->rows_text, &x->rows_length);
	x->without = memory_open_memstream(&x->without_text, &x->without_length);
	return x->rows && x->without ? 0 : -1;
}

/* Returns false if out of memory. */
static bool found_end(struct found *x)
{
	bool has_failed = !x->rows || !x->without;

	has_failed |= x->rows && fclose(x->rows);
	has_failed |= x->without && fclose(x->without);
	return !has_failed;
}

/* Prints a row as a line of its own. @source: of a run here, or NULL. @why: may be empty. */
static void row_put_json(FILE *f, const char *name, bool available, const char *source,
			 const char *why)
{
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_schema(&j, "check");
	jsonw_string(&j, "name", name);
	jsonw_bool(&j, "available", available);
	if (source)
		jsonw_string(&j, "source", source);
	if (*why)
		jsonw_string(&j, "reason", why);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	jsonw_print(&j, f);
}

static void row_put_text(const struct found *x, const char *name, const char *state,
			 const char *why)
{
	fprintf(x->rows, "%-*s %s%s\n", TITLE_COLUMNS, name, state, why);
}

static void found_put_row(const struct found *x, const char *name, bool available, const char *why)
{
	if (x->as == PRINT_JSON)
		row_put_json(x->rows, name, available, NULL, available ? "" : why);
	else if (!available)
		row_put_text(x, name, "missing: ", why);
	else if (x->is_whole)
		row_put_text(x, name, "available", "");
}

static void found_put(void *context, const char *name, bool available, const char *why)
{
	const struct found *x = context;

	found_put_row(x, name, available, why);
	if (!available)
		fprintf(x->without, "%s%s", ftell(x->without) > 0 ? ", " : "", name);
}

/* A metric that only has to be switched on is not missing on this machine. */
static void found_put_metric(struct found *x, const struct tracker *t, enum metric_id id)
{
	bool available = metric_has(&t->usable, id);

	if (available || t->unusable[id] != capability_delays_off) {
		found_put(x, metric_get(id)->key, available, t->unusable[id]);
		return;
	}
	if (x->as == PRINT_JSON)
		row_put_json(x->rows, metric_get(id)->key, false, NULL, t->unusable[id]);
	else if (x->is_whole)
		row_put_text(x, metric_get(id)->key, "off: ", CAPABILITY_DELAYS_SWITCH);
	x->nr_off++;
}

static void check_optional(const struct optionals *o, struct found *x)
{
	const struct optional_row *row;

	for (size_t i = 0; (row = optional_row(i)); i++) {
		if (row->when == WHEN_WIRE_CGROUP) /* not tried: there is no cgroup */
			found_put(x, row->title, !*x->why_no_packets, x->why_no_packets);
		else if (row->when == WHEN_CGROUP) /* nor are these */
			found_put(x, row->title, capability_has_tracepoint(row->tracepoint),
				  row->needs);
		else if (i == OPTIONAL_EXACT_PEAK && user_borrows_rights()) /* nor is this */
			found_put(x, row->title, false,
				  "needs root, because it slows down all processes of the machine");
		else if (row->instead_of == NR_OPTIONALS || o->there & OPTIONAL_BIT(i) ||
			 o->missing[i][0]) /* else it is not needed */
			found_put(x, row->title, !o->missing[i][0], o->missing[i]);
	}
}

static void type_put(void *context, const struct program_type *type, bool is_permitted,
		     bool is_needed, const char *why)
{
	struct found *x = context;
	char title[64], reason[512];

	snprintf(title, sizeof(title), "programs of type %s", type->name);
	snprintf(reason, sizeof(reason), "%s; %s", why,
		 !is_needed      ? "not needed here"
		 : type->without ? type->without
				 : "bpfmon needs them");
	if (type->type == BPF_PROG_TYPE_CGROUP_SKB && !is_permitted)
		snprintf(x->why_no_packets, sizeof(x->why_no_packets), "%s", why);
	if (is_needed)
		found_put(x, title, is_permitted, reason);
	else if (is_permitted || x->as == PRINT_JSON)
		found_put_row(x, title, is_permitted, reason);
	else if (x->is_whole)
		row_put_text(x, title, "not available, not needed: ", why);
}

static void child_ignore(void *context, pid_t child)
{
	(void)context, (void)child;
}

/* Returns true if the agent at @path serves this user. */
static bool agent_serves(const char *path, char *why, size_t size)
{
	__cleanup(closep) int fd = agent_socket_connect_alive(path, why, size);

	return fd >= 0;
}

/*
 * A run goes through an agent that is named, and fails without it. Without BPF and agent, a run is
 * measured from /proc.
 */
static const char *source_of_run(struct found *x)
{
	if (x->agent)
		return agent_serves(x->agent, x->why_no_agent, sizeof(x->why_no_agent)) ? "agent"
											: NULL;
	if (!*x->why)
		return "bpf";
	if (agent_socket_is_there() && !access(AGENT_SOCKET, W_OK))
		return "agent";
	return proc_each_child(getpid(), 1, child_ignore, NULL) ? NULL : "procfs";
}

/* Without BPF: checks whether the kernel reports births and ends of processes. */
static void check_births(struct found *x)
{
	struct proc_connector c;
	const char *why = NULL;
	const int err = proc_connector_open(&c, &why);

	found_put_row(x, "births and ends from the kernel", !err, why);
	proc_connector_close(&c);
}

/* Its absence is one row, not one for each metric. */
static bool is_of_hardware(enum metric_id id)
{
	return metric_source_get(metric_get(id)->source)->of_hardware;
}

#define FIRST_PASS_MS 10000 /* the driver's library takes some ms, seconds if devices sleep */

static void gpu_put(struct found *x, const struct gpu_device *d)
{
	char bytes[FORMAT_BYTES], title[sizeof(d->name) + 8];

	snprintf(title, sizeof(title), "GPU %s", d->name);
	if (x->as == PRINT_JSON || !d->has) {
		found_put_row(x, title, d->has, "it does not answer");
		return;
	}
	fprintf(x->rows, "%s: %s%s%s%s%s\n", title, d->driver, *d->model ? ", " : "", d->model,
		d->has & GPU_MEMORY ? ", " : "",
		d->has & GPU_MEMORY ? format_bytes(bytes, d->memory_total_bytes) : "");
}

/* As in a run: the driver's library is loaded in a process of its own. */
static void check_gpus(struct found *x)
{
	const char *why = gpus_why_missing();
	const struct timespec pause = { .tv_nsec = 10 * NSEC_PER_MSEC };
	static struct gpu_table t; /* 120 KiB, too large for the stack */
	struct gpu_reader *r = NULL;

	if (!why && gpu_reader_start(&r, NSEC_PER_SEC))
		why = "the process that reads them cannot be started";
	for (int ms = 0; r && !gpu_reader_take(r, &t) && ms < FIRST_PASS_MS; ms += 10)
		nanosleep(&pause, NULL);
	gpu_reader_leave(r);
	if (!why && !t.pass_ns)
		why = "the driver does not answer";
	else if (!why && x->source && !strcmp(x->source, "procfs") && gpus_why_foreign())
		why = gpus_why_foreign();
	else if (!why && (t.why[0] || !t.nr_devices))
		why = t.why[0] ? t.why : "none is found";
	found_put_row(x, "GPUs", !why, why ? why : "");
	for (size_t i = 0; i < t.nr_devices; i++)
		gpu_put(x, &t.devices[i]);
}

static void check_hardware(struct found *x)
{
	const char *why = energy_why_missing();

	check_gpus(x);
	found_put_row(x, "energy counters", !why, why ? why : "");
}

/* Some kernels hide process 1 from the programs, and no other. */
static void check_first_process(struct tracker *t, const struct found *x)
{
	found_put_row(x, "following process 1", !tracker_follow(t, 1),
		      "the kernel hides it from BPF programs; its use is missing in runs and in "
		      "the node of an agent");
}

/* Loading and attaching the programs is the only reliable check. */
static void check_loading(struct found *x, const struct refusals *refusals)
{
	struct tracker_options o = { .exact_peak = !user_borrows_rights(),
				     .net_peers = true,
				     .can_seed = true,
				     .may_end = true,
				     .refusals = *refusals };
	struct tracker t;
	int err;

	metric_set_all(&o.wanted);
	metric_set_clear_source(&o.wanted, SOURCE_CGROUP); /* there is no cgroup to read */
	metric_set_clear_source(&o.wanted, SOURCE_WIRE);
	err = tracker_open(&t, &o, x->why, sizeof(x->why));
	found_put(x, "following processes", !err, x->why);
	if (err) {
		if (!*x->why)
			snprintf(x->why, sizeof(x->why), "%s", strerror(-err));
		return;
	}
	*x->why = '\0';
	check_optional(&t.optional, x);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&o.wanted, (enum metric_id)i) && !is_of_hardware((enum metric_id)i))
			found_put_metric(x, &t, (enum metric_id)i);
	check_first_process(&t, x);
	tracker_close(&t);
}

static void verdict_print_cannot(const char *why)
{
	terminal_begin_alarm(stdout);
	printf("bpfmon cannot measure here:");
	terminal_end_alarm(stdout);
	printf(" %s\n", why);
}

static void verdict_print_of_agent(const struct found *x)
{
	if (x->source)
		printf("Runs are measured with BPF, through the agent at %s\n", x->agent);
	else
		verdict_print_cannot(x->why_no_agent);
}

static void verdict_print_without_bpf(const struct found *x)
{
	char why[700];

	if (!x->source) {
		snprintf(
			why, sizeof(why),
			"/proc does not list the children of processes, and BPF is unavailable: %s",
			x->why);
		verdict_print_cannot(why);
	} else if (!strcmp(x->source, "agent")) {
		printf("Runs are measured with BPF, through the agent at %s; without it BPF is "
		       "unavailable: %s\n",
		       AGENT_SOCKET, x->why);
	} else {
		printf("BPF is unavailable; runs are measured from /proc, with less detail: %s\n",
		       x->why);
	}
}

static void found_print_verdict(const struct found *x)
{
	const char *whence = user_borrows_rights() ? "this file has capabilities" : "you are root";

	if (x->agent)
		verdict_print_of_agent(x);
	else if (*x->why)
		verdict_print_without_bpf(x);
	else if (x->without_length)
		printf("Runs are measured with BPF (%s). Not available here: %s\n", whence,
		       x->without_text);
	else
		printf("Runs are measured with BPF (%s), with all features and metrics\n", whence);
	if (x->nr_off)
		printf("%u delay metrics (disk, swap, memory) are off; 'sysctl -w "
		       "kernel.task_delayacct=1' enables them for new processes, and "
		       "kernel.task_delayacct=1 in a file of /etc/sysctl.d at each boot\n",
		       x->nr_off);
}

/* Prints what the options files set; a setting without effect gets the reason. */
static void settings_print(const struct settings *files)
{
	bool has_any = false;

	for (size_t i = 0; i < NR_USER_FILES; i++) {
		const struct settings *s = &files[i];

		if (!*s->path)
			continue;
		printf("%-*s %s%s\n", TITLE_COLUMNS, "configuration", s->path,
		       s->is_project ? " (of the project)" : "");
		for (size_t k = 0; k < s->nr; k++) {
			const struct setting *x = &s->list[k];
			const char *refusal = setting_refusal(s, x);

			printf("  line %-4u %s%s%s%s = %s%s%s%s\n", x->line, *x->section ? "[" : "",
			       x->section, *x->section ? "] " : "", x->key, x->value,
			       refusal ? " (" : "", refusal ? refusal : "", refusal ? ")" : "");
		}
		has_any = true;
	}
	if (!has_any)
		printf("%-*s none\n", TITLE_COLUMNS, "configuration");
}

static int check_run(const struct check_options *o)
{
	const struct settings *files = settings_load();
	struct found x;
	int status = EXIT_USAGE;

	if (!files)
		return EXIT_USAGE;
	if (!found_open(&x, o)) {
		capability_each(found_put, &x);
		program_types_probe(o->refusals.types, type_put, &x);
		check_loading(&x, &o->refusals);
		x.source = source_of_run(&x);
		check_hardware(&x);
		if (x.source && !strcmp(x.source, "procfs"))
			check_births(&x);
	}
	if (found_end(&x)) {
		if (o->as == PRINT_TEXT)
			found_print_verdict(&x);
		else
			row_put_json(stdout, "source of a run", x.source, x.source,
				     x.agent ? x.why_no_agent : x.why);
		fputs(x.rows_text, stdout);
		if (o->as == PRINT_TEXT)
			settings_print(files);
		status = x.source ? 0 : EXIT_CANNOT;
	} else {
		log_error("out of memory");
	}
	free(x.rows_text);
	free(x.without_text);
	return status;
}

static int cmd_check(int argc, char **argv)
{
	struct check_options o;
	int go_on = options_begin(&subcommand_check, &o, argc, argv);

	return go_on <= 0 ? (go_on ? EXIT_USAGE : 0) : check_run(&o);
}

const struct subcommand subcommand_check = {
	.name = "check",
	.summary = "show what can be measured here, and the configuration",
	.part = PART_INFORMS,
	.run = cmd_check,
	.loads_programs = true,
	.groups = check_groups,
	.options_bytes = sizeof(struct check_options),
	.parse = check_parse,
	.help = check_help,
};
