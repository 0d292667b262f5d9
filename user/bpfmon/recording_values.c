// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/recording_values.h"

#include "base/clock.h"
#include "options/option_values.h"
#include "bpfmon/recording_options.h"
#include "run/process.h"
#include "run/sample.h"
#include "measure/program_type.h"
#include "measure/tracker.h"
#include "run/template.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MIN_PSS_PERCENT 0.1
#define MAX_PSS_PERCENT 50.0
#define NET_PEERS_DEFAULT 20
#define MAX_SLOW_MS 86400000 /* a day */

int interval_parse(void *interval_ns, const char *text)
{
	uint64_t ns;

	if (time_parse(text, &ns) || ns < MIN_INTERVAL_NS)
		return -EINVAL;
	*(uint64_t *)interval_ns = ns;
	return 0;
}

int run_word_parse(void *value, const char *text)
{
	return strlen(text) < RUN_WORD_BYTES ? text_parse(value, text) : -ENAMETOOLONG;
}

int output_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;

	if (r->outputs_are_defaults) { /* those of the command line replace them */
		r->outputs_are_defaults = false;
		r->nr_outputs = 0;
	}
	if (!*text || r->nr_outputs == MAX_OUTPUTS)
		return -EINVAL;
	r->output_text[r->nr_outputs++] = text;
	return 0;
}

int format_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;

	if (text_is_template(text))
		r->template = text;
	else if (observer_find(text, strlen(text)))
		r->format = text;
	else
		return -EINVAL;
	return 0;
}

int metrics_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;
	const char *bad;
	size_t length;

	r->chooses_metrics = true;
	return metric_set_parse(&r->wanted, text, &bad, &length);
}

static int percent_parse(const char *text, double min, double max, unsigned *ppm)
{
	double percent;
	char *end;

	if (decimal_parse(text, &percent, &end) || (strcmp(end, "%") != 0 && *end))
		return -EINVAL;
	if (!(percent >= min && percent <= max))
		return -EINVAL;
	*ppm = (unsigned)lround(percent * 10000);
	return 0;
}

int pss_parse(void *ppm, const char *text)
{
	*(unsigned *)ppm = PSS_PPM_DEFAULT;
	return text ? percent_parse(text, MIN_PSS_PERCENT, MAX_PSS_PERCENT, ppm) : 0;
}

int net_peers_parse(void *number, const char *text)
{
	*(unsigned *)number = NET_PEERS_DEFAULT;
	return text ? number_parse(text, 1, MAX_NET_PEERS, number) : 0;
}

int stalled_after_parse(void *ns, const char *text)
{
	return time_parse(text, ns);
}

int stalled_below_parse(void *ppm, const char *text)
{
	return percent_parse(text, 0, 100, ppm);
}

int process_samples_parse(void *number, const char *text)
{
	return number_parse(text, 0, MAX_PROCESS_SAMPLES, number);
}

int record_as_parse(void *as_root, const char *text)
{
	if (strcmp(text, "root") != 0)
		return -EINVAL;
	*(bool *)as_root = true;
	return 0;
}

int if_unavailable_parse(void *recording, const char *text)
{
	static const char *const words[] = {
		[USE_PROCFS] = "procfs",
		[RUN_BARE] = "bare",
		[FAIL_TO_RUN] = "fail",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		((struct recording_options *)recording)->if_unavailable = (enum if_unavailable)i;
		return 0;
	}
	return -EINVAL;
}

int require_parse(void *recording, const char *text)
{
	return strcmp(text, "exact") != 0 ? -EINVAL : if_unavailable_parse(recording, "fail");
}

int max_tasks_parse(void *number, const char *text)
{
	return number_parse(text, 1, MAX_TASKS, number);
}

int inject_misses_parse(void *permille, const char *text)
{
	return number_parse(text, 1, 999, permille);
}

int inject_slow_pss_parse(void *ms, const char *text)
{
	return number_parse(text, 1, MAX_SLOW_MS, ms);
}

int inject_no_program_parse(void *refusals, const char *text)
{
	struct refusals *r = refusals;
	size_t length = strcspn(text, ":");
	unsigned bit = optional_find(text, length), types = program_type_bits(text);
	bool is_attach = !strcmp(text + length, ":attach");

	if ((!bit && !types) || (text[length] && !is_attach))
		return -EINVAL;
	*(is_attach ? &r->attaching : &r->loading) |= bit;
	r->types |= types;
	return 0;
}
