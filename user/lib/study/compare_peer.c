// SPDX-License-Identifier: BSD-2-Clause
/* Files of prmon and of GNU time, their numbers in our units and under our keys. */
#include "study/facts.h"
#include "study/compare_parts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define KIB 1024
#define BLOCK 512 /* bytes of what rusage calls a block */

/*
 * prmon keeps memory in kB of the kernel (1024 bytes), whole seconds, and bytes of I/O. Its peaks
 * of processes, threads, swap and virtual memory have no counterpart in a summary of ours.
 */
static const struct {
	const char *theirs, *old; /* @old: before version 2 */
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

/* Numbers with their unit removed, as lscpu and /proc/meminfo report them. */
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

/* What rusage has of the processes that were waited for; the peak is that of one process. */
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

/* Digits and a point, the line's end after them; NAN: not so. */
static double peer_number_parse(const char *text)
{
	size_t n = strspn(text, "0123456789.");
	char *end;
	double v = strtod(text, &end);

	return n && end == text + n && (*end == '\n' || *end == '\r' || !*end) ? v : NAN;
}

/* h:mm:ss or m:ss.cc, in seconds; NAN: not so. */
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

/* Where @label begins a line at or after @text; NULL: nowhere. */
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

/* The command may have line ends and quotes in it: it reaches to the row that comes after it. */
static int time_read_command(struct side *s, const char *start, const char *rows)
{
	const char *text = start + strlen(COMMAND), *end = rows;
	json_t *command;

	while (end > text && (end[-1] == '\n' || end[-1] == '"'))
		end--;
	command = json_stringn(text, (size_t)(end - text)); /* NULL: bytes that are not UTF-8 */
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
		killed = next; /* the last: the command may write such a line itself */
	if (killed && strchr(killed, '\n') + 1 == start) {
		side_set(s, "signal", peer_number_parse(killed + strlen(KILLED)));
		side_set(s, "exit_code", NAN); /* it is written as 0 then */
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
	tree = json_loadb(text, length, 0, NULL);
	err = tree ? prmon_read(s, tree) : -EBADMSG;
	json_decref(tree);
	return err;
}
