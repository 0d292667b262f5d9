// SPDX-License-Identifier: BSD-2-Clause
/* The block of GNU time -v, for the whole tree. What Linux does not report to GNU time is 0 in
 * both.
 */
#include "export/export.h"

#include "base/clock.h"

#include <inttypes.h>

#define BLOCK_BYTES 512 /* the unit of ru_inblock and ru_oublock */

static bool gnu_time_has(const struct exporter *e, enum metric_id id)
{
	return sample_has(&e->total.total, id);
}

static void gnu_time_put_seconds(struct exporter *e, const char *name, enum metric_id id)
{
	uint64_t hundredths = e->total.total.value[id] / 10000000;

	if (gnu_time_has(e, id))
		buffer_printf(&e->text, "\t%s: %" PRIu64 ".%02" PRIu64 "\n", name, hundredths / 100,
			      hundredths % 100);
}

static void gnu_time_put_count(struct exporter *e, const char *name, enum metric_id id,
			       uint64_t divisor)
{
	if (gnu_time_has(e, id))
		buffer_printf(&e->text, "\t%s: %" PRIu64 "\n", name,
			      e->total.total.value[id] / divisor);
}

static void gnu_time_put_elapsed(struct exporter *e)
{
	uint64_t ns = e->total.wall_ns, s = ns / NSEC_PER_SEC;

	buffer_puts(&e->text, "\tElapsed (wall clock) time (h:mm:ss or m:ss): ");
	if (s >= 3600)
		buffer_printf(&e->text, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "\n", s / 3600,
			      s % 3600 / 60, s % 60);
	else
		buffer_printf(&e->text, "%" PRIu64 ":%02" PRIu64 ".%02" PRIu64 "\n", s / 60, s % 60,
			      (uint64_t)(ns % NSEC_PER_SEC / 10000000));
}

static void gnu_time_put_percent(struct exporter *e)
{
	uint64_t wall_us = e->total.wall_ns / 1000, cpu_us = e->total.total.value[M_cpu] / 1000;

	if (gnu_time_has(e, M_cpu) && wall_us)
		buffer_printf(&e->text, "\tPercent of CPU this job got: %" PRIu64 "%%\n",
			      cpu_us * 100 / wall_us);
	else
		buffer_puts(&e->text, "\tPercent of CPU this job got: ?%\n");
}

static void gnu_time_put_command(struct exporter *e)
{
	struct buffer command = { 0 };

	if (export_command(e, &command)) {
		buffer_puts(&e->text, "\tCommand being timed: \"");
		buffer_put(&e->text, command.text, command.used);
		buffer_puts(&e->text, "\"\n");
	}
	e->text.failed |= command.failed;
	buffer_done(&command);
}

static void gnu_time_put_ending(struct exporter *e)
{
	const struct summary *s = &e->total;

	if (s->has_status && s->signal)
		buffer_printf(&e->text, "Command terminated by signal %d\n", s->signal);
	else if (s->has_status && s->exit_code)
		buffer_printf(&e->text, "Command exited with non-zero status %d\n", s->exit_code);
}

static int gnu_time_write(struct exporter *e)
{
	const struct summary *s = &e->total;

	gnu_time_put_ending(e);
	gnu_time_put_command(e);
	gnu_time_put_seconds(e, "User time (seconds)", M_user);
	gnu_time_put_seconds(e, "System time (seconds)", M_system);
	gnu_time_put_percent(e);
	gnu_time_put_elapsed(e);
	buffer_puts(&e->text, "\tAverage shared text size (kbytes): 0\n"
			      "\tAverage unshared data size (kbytes): 0\n"
			      "\tAverage stack size (kbytes): 0\n"
			      "\tAverage total size (kbytes): 0\n");
	if (s->has_process_rss_peak)
		buffer_printf(&e->text, "\tMaximum resident set size (kbytes): %" PRIu64 "\n",
			      s->process_rss_peak_bytes / 1024);
	buffer_puts(&e->text, "\tAverage resident set size (kbytes): 0\n");
	gnu_time_put_count(e, "Major (requiring I/O) page faults", M_majflt, 1);
	gnu_time_put_count(e, "Minor (reclaiming a frame) page faults", M_minflt, 1);
	gnu_time_put_count(e, "Voluntary context switches", M_nvcsw, 1);
	gnu_time_put_count(e, "Involuntary context switches", M_nivcsw, 1);
	buffer_puts(&e->text, "\tSwaps: 0\n");
	gnu_time_put_count(e, "File system inputs", M_read, BLOCK_BYTES);
	gnu_time_put_count(e, "File system outputs", M_write, BLOCK_BYTES);
	buffer_puts(&e->text, "\tSocket messages sent: 0\n"
			      "\tSocket messages received: 0\n"
			      "\tSignals delivered: 0\n");
	if (s->has_status)
		buffer_printf(&e->text, "\tExit status: %d\n", s->signal ? 0 : s->exit_code);
	return 0;
}

const struct export_format gnu_time_export = {
	.name = "gnu-time",
	.help = "the block that GNU time -v prints",
	.documents = { { "", gnu_time_write } },
};
