// SPDX-License-Identifier: BSD-2-Clause
/* Each value of each option: dates, spans, sizes, numbers, lists of metrics. */
#include "fuzz.h"

#include "base/clock.h"
#include "options/option_values.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"

#include <errno.h>

#define SIZE_MOST (4ULL << 60)

static void check_values(const char *text)
{
	uint64_t moment = 0, bytes = 0, ns = 0;

	if (!moment_parse(&moment, text)) {
		FUZZ_HOLDS(moment > 0 && moment <= INT64_MAX);
		/* a span reaches into the past */
		FUZZ_HOLDS(strchr(text, '-') || moment <= clock_ns(CLOCK_REALTIME));
	}
	if (!size_parse(&bytes, text))
		FUZZ_HOLDS(bytes && bytes <= SIZE_MOST);
	if (!duration_parse(&ns, text))
		FUZZ_HOLDS(ns && ns <= 7 * 24 * 3600 * NSEC_PER_SEC);
}

static void check_recording(const struct recording_options *r)
{
	FUZZ_HOLDS(!r->interval_ns || (r->interval_ns >= 10 * NSEC_PER_MSEC &&
				       r->interval_ns <= 7 * 24 * 3600 * NSEC_PER_SEC));
	FUZZ_HOLDS(r->pss_ppm <= 500000 && r->max_tasks <= 1U << 22);
	FUZZ_HOLDS(r->process_samples <= 1000 && r->inject_misses <= 999);
	FUZZ_HOLDS(r->tags.nr <= 1);
}

/* @text as the value of all that take one, into one struct. */
static void check_rows(const struct subcommand *sub, const char *text)
{
	const struct option_group *group;
	const struct option_row *row;
	char *options = calloc(1, sub->options_bytes);

	for (size_t i = 0; (row = option_at(sub, i, &group)); i++) {
		int err = row->parse(options + group->offset + row->offset, text);

		FUZZ_HOLDS(!err || err == -EINVAL || err == -E2BIG);
	}
	if (sub == &subcommand_run) {
		check_recording(&((struct run_options *)options)->recording);
		FUZZ_HOLDS(((struct run_options *)options)->push.port <= UINT16_MAX);
	}
	if (sub == &subcommand_attach) {
		const struct attach_options *attach = (const void *)options;

		check_recording(&attach->recording);
		FUZZ_HOLDS(attach->nr_pids <= 1 && attach->pids[0] >= 0);
	}
	free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	check_values(text);
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		check_rows(*sub, text);
	free(text);
	return 0;
}
