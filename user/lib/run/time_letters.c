// SPDX-License-Identifier: BSD-2-Clause
#include "run/time_letters.h"

#include "base/clock.h"
#include "run/tree.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES 512 /* the unit of ru_inblock and ru_oublock */
#define HUNDREDTH_NS 10000000
#define NEVER_REPORTED "DKWXkprst"

static void hundredths_put(struct buffer *t, uint64_t ns)
{
	uint64_t hundredths = ns / HUNDREDTH_NS;

	buffer_printf(t, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
}

static void elapsed_put(struct buffer *t, uint64_t ns)
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (s >= 3600)
		buffer_printf(t, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s % 3600 / 60,
			      s % 60);
	else
		buffer_printf(t, "%" PRIu64 ":%02" PRIu64 ".%02" PRIu64, s / 60, s % 60,
			      (uint64_t)(ns % NSEC_PER_SEC / HUNDREDTH_NS));
}

static bool percent_put(struct buffer *t, const struct summary *s)
{
	uint64_t wall_us = s->wall_ns / 1000;

	if (sample_has(&s->total, M_cpu) && wall_us)
		buffer_printf(t, "%" PRIu64 "%%", s->total.value[M_cpu] / 1000 * 100 / wall_us);
	else
		buffer_puts(t, "?%"); /* as there */
	return true;
}

static bool total_put(struct buffer *t, const struct summary *s, enum metric_id id, uint64_t unit)
{
	if (!sample_has(&s->total, id))
		return false;
	if (metric_get(id)->unit == UNIT_NS)
		hundredths_put(t, s->total.value[id]);
	else
		buffer_printf(t, "%" PRIu64, s->total.value[id] / unit);
	return true;
}

bool time_letter_is_known(char letter)
{
	return letter && strchr("CEFIMOPRSUZcewx" NEVER_REPORTED, letter);
}

static bool status_put(struct buffer *t, const struct summary *s)
{
	if (s->has_status)
		buffer_printf(t, "%d", s->signal ? 0 : s->exit_code);
	return s->has_status;
}

static bool largest_put(struct buffer *t, const struct summary *s)
{
	if (s->has_process_rss_peak)
		buffer_printf(t, "%" PRIu64, s->process_rss_peak_bytes / 1024);
	return s->has_process_rss_peak;
}

bool time_letter_put(struct buffer *t, char letter, const struct summary *s, const json_t *command)
{
	static const struct {
		char letter;
		enum metric_id id;
		uint64_t unit;
	} totals[] = {
		{ 'U', M_user, 1 },           { 'S', M_system, 1 },          { 'F', M_majflt, 1 },
		{ 'R', M_minflt, 1 },         { 'w', M_nvcsw, 1 },           { 'c', M_nivcsw, 1 },
		{ 'I', M_read, BLOCK_BYTES }, { 'O', M_write, BLOCK_BYTES },
	};

	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++)
		if (totals[i].letter == letter)
			return total_put(t, s, totals[i].id, totals[i].unit);
	switch (letter) {
	case 'C':
		return tree_put_words(t, command);
	case 'M':
		return largest_put(t, s);
	case 'P':
		return percent_put(t, s);
	case 'x':
		return status_put(t, s);
	case 'E':
		elapsed_put(t, s->wall_ns);
		return true;
	case 'e':
		hundredths_put(t, s->wall_ns);
		return true;
	case 'Z':
		buffer_printf(t, "%ld", sysconf(_SC_PAGESIZE));
		return true;
	default:
		if (!time_letter_is_known(letter))
			return false;
		buffer_puts(t, "0");
		return true;
	}
}
