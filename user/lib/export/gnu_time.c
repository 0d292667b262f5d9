// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exports the block of GNU time -v for the whole tree. What Linux does not report is 0 there too.
 */
#include "export/export.h"

#include "run/template.h"

/* In the order of GNU time; @end follows the value. */
static const struct {
	const char *title;
	char letter;
	const char *end;
} rows[] = {
	{ "Command being timed: \"", 'C', "\"" },
	{ "User time (seconds): ", 'U', "" },
	{ "System time (seconds): ", 'S', "" },
	{ "Percent of CPU this job got: ", 'P', "" },
	{ "Elapsed (wall clock) time (h:mm:ss or m:ss): ", 'E', "" },
	{ "Average shared text size (kbytes): ", 'X', "" },
	{ "Average unshared data size (kbytes): ", 'D', "" },
	{ "Average stack size (kbytes): ", 'p', "" },
	{ "Average total size (kbytes): ", 'K', "" },
	{ "Maximum resident set size (kbytes): ", 'M', "" },
	{ "Average resident set size (kbytes): ", 't', "" },
	{ "Major (requiring I/O) page faults: ", 'F', "" },
	{ "Minor (reclaiming a frame) page faults: ", 'R', "" },
	{ "Voluntary context switches: ", 'w', "" },
	{ "Involuntary context switches: ", 'c', "" },
	{ "Swaps: ", 'W', "" },
	{ "File system inputs: ", 'I', "" },
	{ "File system outputs: ", 'O', "" },
	{ "Socket messages sent: ", 's', "" },
	{ "Socket messages received: ", 'r', "" },
	{ "Signals delivered: ", 'k', "" },
	{ "Exit status: ", 'x', "" },
};

static void gnu_time_put_ending(struct exporter *e)
{
	const struct summary *s = &e->total;

	if (s->has_status && s->signal)
		buffer_printf(&e->text, "Command terminated by signal %d\n", s->signal);
	else if (s->has_status && s->exit_code)
		buffer_printf(&e->text, "Command exited with non-zero status %d\n", s->exit_code);
}

/* Omits the line of a value that the run lacks. */
static int gnu_time_write(struct exporter *e)
{
	const json_t *command = json_object_get(e->meta, "command");

	gnu_time_put_ending(e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t before = e->text.used;

		buffer_printf(&e->text, "\t%s", rows[i].title);
		if (time_letter_put(&e->text, rows[i].letter, &e->total, command))
			buffer_printf(&e->text, "%s\n", rows[i].end);
		else
			e->text.used = before;
	}
	return 0;
}

const struct export_format gnu_time_export = {
	.name = "gnu-time",
	.help = "output of GNU time -v",
	.takes_several = true, /* like the blocks that time -a -o FILE appends */
	.documents = { { "", gnu_time_write, NULL } },
};
