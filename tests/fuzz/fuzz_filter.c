// SPDX-License-Identifier: BSD-2-Clause
/* Dates, spans, sizes and numbers of the options of `list` and `store`. */
#include "fuzz.h"

#include "base/clock.h"
#include "cmd/filter.h"
#include "cmd/values.h"

#define SIZE_MOST (4ULL << 60)

static void option_check(int (*parse)(struct options *o, const char *text), const char *text)
{
	struct options o = { .scope = FOR_ANY };
	int err = parse(&o, text);
	uint64_t now = clock_ns(CLOCK_REALTIME);

	FUZZ_HOLDS(err <= 0);
	if (err)
		return;
	FUZZ_HOLDS(o.filter.since_ns <= INT64_MAX && o.prune.before_ns <= INT64_MAX);
	FUZZ_HOLDS(parse != parse_filter_since || o.filter.since_ns > 0);
	FUZZ_HOLDS(parse != parse_older_than || o.prune.before_ns > 0);
	/* a span ends now */
	FUZZ_HOLDS(parse != parse_filter_since || strchr(text, '-') || o.filter.since_ns <= now);
	FUZZ_HOLDS(parse != parse_max_size || o.prune.max_bytes);
	FUZZ_HOLDS(o.prune.max_bytes <= SIZE_MOST);
	FUZZ_HOLDS(parse != parse_interval || (o.interval_ns >= 10 * NSEC_PER_MSEC &&
					       o.interval_ns <= 7 * 24 * 3600 * NSEC_PER_SEC));
	FUZZ_HOLDS(o.duration_ns <= 7 * 24 * 3600 * NSEC_PER_SEC);
	FUZZ_HOLDS(o.pss_ppm <= 500000 && o.limit <= 1000000000 && o.max_tasks <= 1U << 22);
	FUZZ_HOLDS(o.nr_pids <= 1 && o.pids[0] >= 0);
	FUZZ_HOLDS(o.push.port <= UINT16_MAX && o.inject_misses <= 999);
	FUZZ_HOLDS(o.nr_tags <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const all[])(struct options * o, const char *text) = {
		parse_filter_since,
		parse_older_than,
		parse_keep,
		parse_max_size,
		parse_limit,
		parse_order,
		parse_by_phase,
		parse_filter_state,
		parse_filter_tag,
		parse_interval,
		parse_duration,
		parse_pss,
		parse_pid,
		parse_metrics,
		parse_metrics_udp,
		parse_process_samples,
		parse_max_tasks,
		parse_inject_misses,
		parse_name,
		parse_filter_host,
		parse_inject_no_program,
	};
	char *text = fuzz_text(data, size);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		option_check(all[i], text);
	free(text);
	return 0;
}
