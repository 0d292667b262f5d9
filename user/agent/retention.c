// SPDX-License-Identifier: BSD-2-Clause
#include "agent/retention.h"

#include "base/clock.h"
#include "store/remove.h"

#define STEP_NS (100 * NSEC_PER_MSEC) /* lines wait for so long */
#define PERIOD_NS (60 * NSEC_PER_SEC)
#define DAY_NS (24ULL * 3600 * NSEC_PER_SEC)
#define STEADY_NS (6ULL * 3600 * NSEC_PER_SEC) /* a clock that is to be set will have been */
#define CLOCK_STEP_NS ((int64_t)(60 * NSEC_PER_SEC))
#define PAGES_AT_ONCE 500

struct retaining {
	const struct retention *r;
	bool looks_for_old;
	uint64_t before_ns; /* epoch */
	uint64_t until_ns;  /* CLOCK_MONOTONIC */
	bool has_more;
};

void retention_init(struct retention *r, uint64_t keep_ns, uint64_t keep_bytes)
{
	*r = (struct retention){ .keep_ns = keep_ns, .keep_bytes = keep_bytes };
	identity_self(r->self);
}

/* What is in use; with @with_free what the file has. */
static int pages_measure(struct database *d, bool with_free, uint64_t *bytes)
{
	int64_t pages, unused = 0, size = 0;
	int err = database_number(d, &pages, NULL, "PRAGMA page_count");

	if (!err && !with_free)
		err = database_number(d, &unused, NULL, "PRAGMA freelist_count");
	if (!err)
		err = database_number(d, &size, NULL, "PRAGMA page_size");
	*bytes = err ? 0 : (uint64_t)((pages - unused) * size);
	return err;
}

#define NOT_OPEN "(ended OR ifnull(writer, '') <> %Q)"

static int run_find_to_go(struct database *d, const struct retaining *g, int64_t *id, bool *is_none)
{
	uint64_t used;
	int err = pages_measure(d, false, &used);

	*is_none = true;
	if (!err && used > g->r->keep_bytes)
		err = database_number(d, id, is_none,
				      "SELECT id FROM run WHERE " NOT_OPEN " ORDER BY id LIMIT 1",
				      g->r->self);
	else if (!err && g->looks_for_old)
		err = database_number(d, id, is_none,
				      "SELECT id FROM run WHERE seen_time_ns < %lld AND " NOT_OPEN
				      " ORDER BY id LIMIT 1",
				      (long long)g->before_ns, g->r->self);
	return err;
}

static int runs_let_go(struct database *d, void *context)
{
	struct retaining *g = context;
	bool is_none = false;
	int64_t id;
	int err = 0;

	while (!err && !(err = run_find_to_go(d, g, &id, &is_none)) && !is_none) {
		if (clock_ns(CLOCK_MONOTONIC) > g->until_ns) {
			g->has_more = true;
			break;
		}
		err = remove_head(d, id);
		if (!err)
			err = remove_rows(d, id);
	}
	return err;
}

/* New runs take the room of those that went; only what is too much is given back. */
static int space_trim(struct retention *r, struct database *d)
{
	uint64_t file, used = 0;
	int err = pages_measure(d, true, &file);

	if (!err)
		err = pages_measure(d, false, &used);
	if (err || file == used || (file <= r->keep_bytes && used >= file / 2))
		return err;
	return database_runf(d, "PRAGMA incremental_vacuum(%d)", PAGES_AT_ONCE);
}

static bool clock_is_steady(struct retention *r, uint64_t epoch_ns)
{
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME);
	int64_t of_boot_ns = (int64_t)(epoch_ns - boot_ns), step_ns;

	step_ns = of_boot_ns - r->epoch_of_boot_ns;
	if (!r->steady_since_ns || step_ns > CLOCK_STEP_NS || step_ns < -CLOCK_STEP_NS) {
		r->epoch_of_boot_ns = of_boot_ns;
		r->steady_since_ns = boot_ns;
	}
	return boot_ns - r->steady_since_ns >= STEADY_NS;
}

/* Whether the store has a run of each day from @epoch_ns back that is kept: no clock has jumped. */
static int days_are_complete(const struct retention *r, struct database *d, uint64_t epoch_ns,
			     bool *are)
{
	int64_t days = 0, kept = (int64_t)(r->keep_ns / DAY_NS);
	int err = database_number(d, &days, NULL,
				  "SELECT count(DISTINCT (%lld - seen_time_ns) / %lld) FROM run "
				  "WHERE seen_time_ns > %lld AND seen_time_ns <= %lld",
				  (long long)epoch_ns, (long long)DAY_NS,
				  (long long)(epoch_ns - r->keep_ns), (long long)epoch_ns);

	*are = kept > 1 && days >= kept; /* of one day alone it would say nothing */
	return err;
}

/* A clock that is ahead would make all runs too old. */
static int age_is_known(struct retention *r, struct database *d, uint64_t epoch_ns, bool *is_known)
{
	*is_known = clock_is_steady(r, epoch_ns);
	if (*is_known || epoch_ns <= r->keep_ns)
		return 0;
	return days_are_complete(r, d, epoch_ns, is_known);
}

int retention_step(struct retention *r, struct database *d)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), epoch_ns = clock_ns(CLOCK_REALTIME), used;
	struct retaining g = { .r = r,
			       .before_ns = epoch_ns > r->keep_ns ? epoch_ns - r->keep_ns : 0,
			       .until_ns = now_ns + STEP_NS };
	bool is_due = now_ns >= r->due_ns;
	int err = pages_measure(d, false, &used);

	if (!err && is_due)
		err = age_is_known(r, d, epoch_ns, &g.looks_for_old);
	if (!err && (g.looks_for_old || used > r->keep_bytes))
		err = database_transact(d, runs_let_go, &g);
	if (!g.has_more && is_due)
		r->due_ns = now_ns + PERIOD_NS;
	return err ? err : space_trim(r, d);
}
