// SPDX-License-Identifier: BSD-2-Clause
#include "study/side.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "run/tree.h"
#include "text/meta_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LARGEST_PEER (16U << 20) /* bytes; output of the command may precede the result */

static void side_done(struct side *s)
{
	free(s->name);
	free(s->title);
	json_decref(s->facts);
}

void sides_done(struct sides *all)
{
	for (size_t i = 0; i < all->nr; i++)
		side_done(&all->list[i]);
	free(all->list);
	*all = (struct sides){ 0 };
}

struct side *sides_append(struct sides *all, const char *name)
{
	struct side *s;

	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 8;
		struct side *list = memory_realloc(all->list, room * sizeof(*list));

		if (!list)
			return NULL;
		all->list = list;
		all->room = room;
	}
	s = &all->list[all->nr];
	*s = (struct side){ .name = memory_strdup(name), .facts = json_object() };
	for (size_t i = 0; i < NR_KEYS; i++)
		s->value[i] = NAN;
	if (!s->name || !s->facts) {
		side_done(s);
		return NULL;
	}
	all->nr++;
	return s;
}

void sides_drop(struct sides *all)
{
	side_done(&all->list[--all->nr]);
}

void side_set(struct side *s, const char *key, double value)
{
	size_t i;

	if (!run_key_find(key, strlen(key), &i))
		s->value[i] = value;
}

static double side_get(const struct side *s, const char *key)
{
	size_t i;

	return run_key_find(key, strlen(key), &i) ? NAN : s->value[i];
}

/* Sets signal to 0 for a run with an exit status, so that conditions on it can be evaluated. */
static void side_derive_signal(struct side *s)
{
	if (isnan(side_get(s, "signal")) && !isnan(side_get(s, "exit_code")))
		side_set(s, "signal", 0);
}

void side_derive(struct side *s)
{
	double wall = side_get(s, "wall_seconds");

	if (isnan(side_get(s, "cpu_seconds")))
		side_set(s, "cpu_seconds",
			 side_get(s, "user_seconds") + side_get(s, "system_seconds"));
	if (isnan(side_get(s, "cores_mean")) && wall > 0)
		side_set(s, "cores_mean", side_get(s, "cpu_seconds") / wall);
	side_derive_signal(s);
}

void side_take_values(struct side *s, const json_t *summary)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		const char *key = run_key(i).name;
		const json_t *v = key ? json_object_get(summary, key) : NULL;

		if (json_is_number(v))
			s->value[i] = json_number_value(v);
	}
	side_derive_signal(s);
	s->complete = json_is_true(json_object_get(summary, "complete"));
}

/* Returns whether the maximum is taken, as for memory, rates and statuses, instead of the sum. */
static bool key_is_largest(size_t key)
{
	struct run_key k = run_key(key);

	if (key >= NR_SUMMARY_COMPARED)
		return false;
	return k.unit == UNIT_BYTES || k.unit == UNIT_MILLI || !strcmp(k.name, "exit_code") ||
	       !strcmp(k.name, "signal");
}

void side_add_values(struct side *s, const struct side *one)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		if (isnan(s->value[i]))
			s->value[i] = one->value[i];
		else if (!isnan(one->value[i]))
			s->value[i] = key_is_largest(i) ? fmax(s->value[i], one->value[i])
							: s->value[i] + one->value[i];
	}
	s->complete &= one->complete;
	if (side_get(s, "wall_seconds") > 0)
		side_set(s, "cores_mean", side_get(s, "cpu_seconds") / side_get(s, "wall_seconds"));
}

struct taking {
	struct side *side;
	bool has_summary;
};

static int side_take_part(void *context, struct line *l)
{
	struct taking *t = context;

	if (l->kind == LINE_META) {
		free(t->side->title);
		t->side->title = meta_title(l->tree);
		return facts_add(t->side->facts, l->tree);
	}
	side_take_values(t->side, l->tree);
	t->has_summary = true;
	return 0;
}

/* Sets the values of a run without a summary; those without samples stay absent. */
static int side_take_folded(struct side *s, struct source *src)
{
	void *tree;
	int err = source_summary_tree(src, &tree, &s->is_folded);

	if (!err)
		side_take_values(s, tree);
	json_decref(tree);
	return err;
}

int sides_add_run(struct sides *all, const char *name, struct source *src)
{
	struct taking t = { .side = sides_append(all, name) };
	int err;

	if (!t.side)
		return -ENOMEM;
	t.side->format = "bpfmon";
	t.side->is_run = true;
	err = source_each(src, PART(LINE_META) | PART(LINE_SUMMARY), side_take_part, &t);
	if (!err && !t.has_summary)
		err = side_take_folded(t.side, src);
	if (err)
		sides_drop(all);
	return err;
}

static int file_read_whole(const char *path, char **text, size_t *length)
{
	__cleanup(fclosep) FILE *f = memory_fopen(path, "re");

	if (!f)
		return -errno;
	*text = memory_malloc(LARGEST_PEER + 1);
	if (!*text)
		return -ENOMEM;
	*length = fread(*text, 1, LARGEST_PEER + 1, f);
	if (ferror(f))
		return -errno;
	if (*length > LARGEST_PEER)
		return -EBADMSG;
	(*text)[*length] = '\0';
	return 0;
}

int sides_add_peer(struct sides *all, const char *path)
{
	__cleanup(freep) char *text = NULL;
	size_t length = 0;
	int err = file_read_whole(path, &text, &length);
	struct side *s = err ? NULL : sides_append(all, path);

	if (!err && !s)
		err = -ENOMEM;
	if (err)
		return err;
	err = peer_read(s, text, length);
	if (err)
		sides_drop(all);
	else
		side_derive(s);
	return err;
}

const char *side_tag(const struct side *s, const char *tag)
{
	__cleanup(freep) char *key = NULL;

	if (memory_asprintf(&key, "tags.%s", tag) < 0) {
		key = NULL;
		return NULL;
	}
	return json_string_value(json_object_get(s->facts, key));
}

#define DEEPEST 8 /* deeper objects are not flattened */

/*
 * Facts that are not compared: they differ between any two runs or jobs, follow from others, or
 * list metrics as the table of values does. A name that ends in '*' stands for all that begin so. A
 * virtual machine has more or less memory from one minute to the next.
 */
static const char *const left_out[] = { "kind",
					"run",
					"start_time",
					"live_socket*",
					"units",
					"lossy",
					"edited_time",
					"attached.seeding_seconds",
					"system.numa_memory_bytes",
					"system.boot_time",
					"baseline",
					"job",
					"node_job.id",
					"node_job.cgroup",
					"limits.cgroup",
					"container.id",
					"scheduler.SLURM_JOB_ID",
					"scheduler.OAR_JOB_ID",
					"scheduler.CI_JOB_ID",
					"scheduler.JOB_ID",
					"scheduler.PBS_JOBID",
					"scheduler.LSB_JOBID",
					"scheduler.CI_PIPELINE_ID",
					NULL };

static bool fact_is_left_out(const char *key)
{
	for (const char *const *k = left_out; *k; k++) {
		size_t n = strlen(*k) - 1;

		if (!strcmp(*k, key) || ((*k)[n] == '*' && !strncmp(*k, key, n)))
			return true;
	}
	return false;
}

/* Appends a string as it is, any other value as JSON. */
static int fact_put_value(struct buffer *t, const json_t *v)
{
	struct jsonw j = { 0 };
	int err;

	if (json_is_string(v)) {
		buffer_put(t, json_string_value(v), json_string_length(v));
	} else {
		tree_write(&j, NULL, v);
		buffer_put(t, j.text, j.used);
	}
	err = j.failed || t->failed ? -ENOMEM : 0;
	jsonw_done(&j);
	return err;
}

static json_t *fact_to_text(json_t *v)
{
	struct buffer t = { 0 };
	json_t *element, *text;
	size_t i;
	int err = 0;

	if (json_is_array(v)) {
		json_array_foreach(v, i, element) {
			if (i)
				buffer_puts(&t, " ");
			if (!err)
				err = fact_put_value(&t, element);
		}
	} else {
		err = fact_put_value(&t, v);
	}
	text = err ? NULL : json_stringn_nocheck(t.text ? t.text : "", t.used);
	buffer_done(&t);
	return text;
}

static int fact_add(json_t *to, const char *key, json_t *v, int depth);

static int facts_add_object(json_t *to, const char *prefix, const json_t *from, int depth)
{
	const char *name;
	json_t *v;
	int err = 0;

	json_object_foreach((json_t *)from, name, v) {
		__cleanup(freep) char *key = NULL;

		if (memory_asprintf(&key, "%s%s%s", prefix, *prefix ? "." : "", name) < 0) {
			key = NULL;
			return -ENOMEM;
		}
		err = fact_add(to, key, v, depth);
		if (err)
			break;
	}
	return err;
}

static int fact_add(json_t *to, const char *key, json_t *v, int depth)
{
	if (fact_is_left_out(key) || json_is_null(v))
		return 0;
	if (json_is_object(v) && depth < DEEPEST)
		return facts_add_object(to, key, v, depth + 1);
	return json_object_set_new_nocheck(to, key, fact_to_text(v)) ? -ENOMEM : 0;
}

int facts_add(json_t *to, const json_t *from)
{
	return facts_add_object(to, "", from, 0);
}

/* Files of prmon and GNU time are converted to the keys and units of bpfmon. */

#define KIB 1024
#define BLOCK 512 /* bytes of a block in rusage */

/*
 * prmon has memory in kB of 1024 bytes, whole seconds, and bytes of I/O. Its peaks of processes,
 * threads, swap and virtual memory have no counterpart in the summary.
 */
static const struct {
	const char *theirs, *old; /* key before version 2; may be NULL */
	const char *ours;
	double factor;
} of_prmon[] = {
	{ "wtime", NULL, "wall_seconds", 1 },
	{ "utime", NULL, "user_seconds", 1 },
	{ "stime", NULL, "system_seconds", 1 },
	{ "rss", "maxRSS", "rss_peak_bytes", KIB },
	{ "pss", "maxPSS", "pss_peak_bytes", KIB },
	{ "rchar", "totRCHAR", "rchar_bytes", 1 },
	{ "wchar", "totWCHAR", "wchar_bytes", 1 },
	{ "read_bytes", "totRBYTES", "read_bytes", 1 },
	{ "write_bytes", "totWBYTES", "write_bytes", 1 },
};

/* Reads numbers of lscpu and /proc/meminfo, which have no unit. */
static int prmon_read_machine(struct side *s, const json_t *tree)
{
	const json_t *hw = json_object_get(tree, "HW");
	const json_t *cpus = json_object_get(json_object_get(hw, "cpu"), "CPUs");
	const json_t *kb = json_object_get(json_object_get(hw, "mem"), "MemTotal");
	json_t *system = json_object(), *facts = json_pack("{s:o}", "system", system);
	json_int_t bytes;
	int err;

	if (json_is_integer(cpus))
		json_object_set(system, "cpus", (json_t *)cpus);
	if (json_is_integer(kb) && !__builtin_mul_overflow(json_integer_value(kb), KIB, &bytes))
		json_object_set_new(system, "memory_bytes", json_integer(bytes));
	err = facts ? facts_add(s->facts, facts) : -ENOMEM;
	json_decref(facts);
	return err;
}

static int prmon_read(struct side *s, const json_t *tree)
{
	const json_t *max = json_object_get(tree, "Max");

	if (!json_is_object(max) || !json_is_object(json_object_get(tree, "Avg")))
		return -EBADMSG;
	s->format = "prmon";
	for (size_t i = 0; i < sizeof(of_prmon) / sizeof(*of_prmon); i++) {
		const json_t *v = json_object_get(max, of_prmon[i].theirs);

		if (!v && of_prmon[i].old)
			v = json_object_get(max, of_prmon[i].old);
		if (json_is_number(v))
			side_set(s, of_prmon[i].ours, json_number_value(v) * of_prmon[i].factor);
	}
	return prmon_read_machine(s, tree);
}

/* Values of rusage, for processes that were waited for; the peak is that of one process. */
static const struct {
	const char *label, *ours;
	double factor;
} of_time[] = {
	{ "User time (seconds): ", "user_seconds", 1 },
	{ "System time (seconds): ", "system_seconds", 1 },
	{ "Maximum resident set size (kbytes): ", "process_rss_peak_bytes", KIB },
	{ "Major (requiring I/O) page faults: ", "majflt", 1 },
	{ "Minor (reclaiming a frame) page faults: ", "minflt", 1 },
	{ "Voluntary context switches: ", "nvcsw", 1 },
	{ "Involuntary context switches: ", "nivcsw", 1 },
	{ "File system inputs: ", "read_bytes", BLOCK },
	{ "File system outputs: ", "write_bytes", BLOCK },
	{ "Exit status: ", "exit_code", 1 },
};
#define COMMAND "\tCommand being timed: \""
#define ELAPSED "\tElapsed (wall clock) time (h:mm:ss or m:ss): "
#define PEAK "\tMaximum resident set size (kbytes): "
#define KILLED "Command terminated by signal "

/* Parses digits and a point up to the end of the line; returns NAN for anything else. */
static double peer_number_parse(const char *text)
{
	size_t n = strspn(text, "0123456789.");
	char *end;
	double v = strtod(text, &end);

	return n && end == text + n && (*end == '\n' || *end == '\r' || !*end) ? v : NAN;
}

/* Parses h:mm:ss or m:ss.cc and returns seconds; NAN for anything else. */
static double clock_time_parse(const char *text)
{
	double seconds = 0;

	for (int parts = 0; parts < 3; parts++) {
		size_t n = strspn(text, "0123456789");

		if (!n || text[n] != ':')
			return parts ? seconds * 60 + peer_number_parse(text) : NAN;
		seconds = seconds * 60 + strtod(text, NULL);
		text += n + 1;
	}
	return NAN;
}

/* Finds a line that begins with @label, from @text on. Returns NULL if there is none. */
static const char *line_find(const char *text, const char *label)
{
	size_t n = strlen(label);

	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, label, n))
			return text;
	return NULL;
}

static void time_read_row(struct side *s, const char *line)
{
	for (size_t i = 0; i < sizeof(of_time) / sizeof(*of_time); i++) {
		size_t n = strlen(of_time[i].label);

		if (!strncmp(line + 1, of_time[i].label, n))
			side_set(s, of_time[i].ours,
				 peer_number_parse(line + 1 + n) * of_time[i].factor);
	}
}

/* The command extends to the next row, because it may contain newlines and quotes. */
static int time_read_command(struct side *s, const char *start, const char *rows)
{
	const char *text = start + strlen(COMMAND), *end = rows;
	json_t *command;

	while (end > text && (end[-1] == '\n' || end[-1] == '"'))
		end--;
	command = json_stringn(text, (size_t)(end - text)); /* NULL if not UTF-8 */
	return command && json_object_set_new(s->facts, "command", command) ? -ENOMEM : 0;
}

static int time_read(struct side *s, const char *text)
{
	const char *start = line_find(text, COMMAND), *rows, *next, *killed;

	if (!start || !line_find(start, PEAK) || !line_find(start, ELAPSED))
		return -EBADMSG;
	if (line_find(start + 1, COMMAND) || line_find(line_find(start, PEAK) + 1, PEAK))
		return -EMLINK;
	s->format = "GNU time";
	rows = line_find(start, "\tUser time (seconds): ");
	for (next = rows; next; next = line_find(next + 1, "\t"))
		time_read_row(s, next);
	side_set(s, "wall_seconds", clock_time_parse(line_find(start, ELAPSED) + strlen(ELAPSED)));
	for (killed = NULL, next = line_find(text, KILLED); next && next < start;
	     next = line_find(next + 1, KILLED))
		killed = next; /* the last one, because the command may print such a line itself */
	if (killed && strchr(killed, '\n') + 1 == start) {
		side_set(s, "signal", peer_number_parse(killed + strlen(KILLED)));
		side_set(s, "exit_code", NAN); /* GNU time writes 0 for it */
	}
	return rows ? time_read_command(s, start, rows) : 0;
}

int peer_read(struct side *s, const char *text, size_t length)
{
	const char *first = text;
	json_t *tree;
	int err;

	while (isspace((unsigned char)*first))
		first++;
	if (*first != '{')
		return strlen(text) == length ? time_read(s, text) : -EBADMSG;
	tree = jansson_loadb(text, length, 0, NULL);
	err = tree ? prmon_read(s, tree) : -EBADMSG;
	json_decref(tree);
	return err;
}
