// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/values.h"

#include "base/clock.h"
#include "model/process_sample.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MAX_INTERVAL_SECONDS (7 * 24 * 3600.0)
#define MIN_PSS_PERCENT 0.1
#define MAX_PSS_PERCENT 50.0
#define MAX_PID (1U << 22) /* of any Linux */
#define MAX_TASKS_LIMIT (1U << 22)

/* Digits and a point: no blanks, signs, "inf", hexadecimals. */
static int parse_decimal(const char *text, double *value, char **end)
{
	if ((!isdigit((unsigned char)*text) && *text != '.') || strpbrk(text, "xX"))
		return -EINVAL;
	*value = strtod(text, end);
	return *end == text ? -EINVAL : 0;
}

/* Seconds, or milliseconds with "ms" behind them. */
static int parse_time(const char *text, uint64_t *ns)
{
	char *end;
	double v;

	if (parse_decimal(text, &v, &end))
		return -EINVAL;
	if (!strcmp(end, "ms"))
		v /= 1000;
	else if (*end && strcmp(end, "s") != 0)
		return -EINVAL;
	if (!isfinite(v) || v > MAX_INTERVAL_SECONDS)
		return -EINVAL;
	*ns = (uint64_t)llround(v * 1e9);
	return 0;
}

int parse_interval(struct options *o, const char *text)
{
	uint64_t ns;

	if (parse_time(text, &ns) || ns < MIN_INTERVAL_NS)
		return -EINVAL;
	o->interval_ns = ns;
	return 0;
}

int parse_duration(struct options *o, const char *text)
{
	return parse_time(text, &o->duration_ns) || !o->duration_ns ? -EINVAL : 0;
}

int parse_output(struct options *o, const char *text)
{
	if (o->outputs_are_defaults) { /* the line's take their place */
		o->outputs_are_defaults = false;
		o->nr_outputs = 0;
	}
	if (!*text || o->nr_outputs == MAX_OUTPUTS)
		return -EINVAL;
	o->output_text[o->nr_outputs++] = text;
	return 0;
}

int parse_format(struct options *o, const char *text)
{
	if (!observer_find(text, strlen(text)))
		return -EINVAL;
	o->format = text;
	return 0;
}

int parse_metrics(struct options *o, const char *text)
{
	const char *bad;
	size_t length;

	o->chooses_metrics = true;
	return metric_set_parse(&o->wanted, text, &bad, &length);
}

int parse_pss(struct options *o, const char *text)
{
	double percent = PSS_PPM_DEFAULT / 1e4;
	char *end = "";

	if (text && parse_decimal(text, &percent, &end))
		return -EINVAL;
	if (strcmp(end, "%") != 0 && *end)
		return -EINVAL;
	if (!(percent >= MIN_PSS_PERCENT && percent <= MAX_PSS_PERCENT))
		return -EINVAL;
	o->pss_ppm = (unsigned)lround(percent * 10000);
	return 0;
}

int parse_user(struct options *o, const char *text)
{
	if (text && !*text)
		return -EINVAL;
	o->switch_user = true;
	o->user = text;
	return 0;
}

int parse_wait(struct options *o, const char *text)
{
	if (strcmp(text, "tree") != 0 && strcmp(text, "command") != 0)
		return -EINVAL;
	o->wait_tree = !strcmp(text, "tree");
	return 0;
}

int parse_record_as(struct options *o, const char *text)
{
	if (strcmp(text, "root") != 0)
		return -EINVAL;
	o->record_as_root = true;
	return 0;
}

static int parse_number(const char *text, unsigned long max, unsigned *number)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end || errno || !v || v > max)
		return -EINVAL;
	*number = (unsigned)v;
	return 0;
}

int parse_pid(struct options *o, const char *text)
{
	unsigned pid;

	if (o->nr_pids == MAX_TARGETS || parse_number(text, MAX_PID, &pid))
		return -EINVAL;
	o->pids[o->nr_pids++] = (pid_t)pid;
	return 0;
}

int parse_cgroup(struct options *o, const char *text)
{
	o->cgroup = text;
	return *text ? 0 : -EINVAL;
}

int parse_container(struct options *o, const char *text)
{
	o->container = text;
	return *text ? 0 : -EINVAL;
}

int parse_marks(struct options *o, const char *text)
{
	(void)text;
	o->push.marks = true;
	return 0;
}

int parse_metrics_udp(struct options *o, const char *text)
{
	o->push.metrics_udp = true;
	o->push.port = 0;
	return strcmp(text, "0") ? parse_number(text, UINT16_MAX, &o->push.port) : 0;
}

int parse_process_samples(struct options *o, const char *text)
{
	o->process_samples = 0;
	return strcmp(text, "0") ? parse_number(text, MAX_PROCESS_SAMPLES, &o->process_samples) : 0;
}

int parse_max_tasks(struct options *o, const char *text)
{
	return parse_number(text, MAX_TASKS_LIMIT, &o->max_tasks);
}

int parse_inject_misses(struct options *o, const char *text)
{
	return parse_number(text, 999, &o->inject_misses);
}

/* NAME, which is refused when it is loaded, or NAME:attach. */
int parse_inject_no_program(struct options *o, const char *text)
{
	size_t length = strcspn(text, ":");
	unsigned bit = optional_find(text, length);
	bool is_attach = !strcmp(text + length, ":attach");

	if (!bit || (text[length] && !is_attach))
		return -EINVAL;
	*(is_attach ? &o->unattached : &o->refused) |= bit;
	return 0;
}

int parse_name(struct options *o, const char *text)
{
	o->name = text;
	return *text ? 0 : -EINVAL;
}

int parse_job(struct options *o, const char *text)
{
	o->job = text;
	return *text ? 0 : -EINVAL;
}

int parse_store(struct options *o, const char *text)
{
	o->store = text;
	o->no_store = false; /* whoever names one wants it */
	return *text ? 0 : -EINVAL;
}
