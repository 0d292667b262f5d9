// SPDX-License-Identifier: BSD-2-Clause
#include "run/needed.h"

#include "run/summary.h"

#include <stdio.h>
#include <string.h>

#define SMALL_BYTES (16ULL << 20)
#define FEW_BYTES (1ULL << 20) /* negligible size of in-memory files */

static const char equal[] = "equal", at_most[] = "at_most", at_least[] = "at_least";

static bool exceeds_by_a_tenth(uint64_t bytes, uint64_t of)
{
	return bytes > of && bytes - of > of / 10;
}

void needed_record_cgroup(struct needed_seen *n, uint64_t bytes, uint64_t elapsed_ns)
{
	if (n->has_cgroup && bytes <= n->cgroup_bytes)
		return;
	n->has_cgroup = true;
	n->cgroup_bytes = bytes;
	n->cgroup_elapsed_ns = elapsed_ns;
}

void needed_record_pss(struct needed_seen *n, uint64_t pss_bytes, uint64_t rss_bytes,
		       uint64_t elapsed_ns)
{
	if (rss_bytes > n->covered_rss_bytes)
		n->covered_rss_bytes = rss_bytes;
	if (!exceeds_by_a_tenth(n->unread_rss_bytes, rss_bytes))
		n->unread_rss_bytes = 0;
	if (n->has_pss && pss_bytes <= n->pss_bytes)
		return;
	n->has_pss = true;
	n->pss_bytes = pss_bytes;
	n->pss_elapsed_ns = elapsed_ns;
}

void needed_set_source(struct memory_needed *n, const char *witness, const char *bound)
{
	snprintf(n->witness, sizeof(n->witness), "%s", witness);
	snprintf(n->bound, sizeof(n->bound), "%s", bound);
}

static struct memory_needed needed_make(const char *witness, const char *bound, uint64_t bytes)
{
	struct memory_needed n = { .bytes = bytes };

	needed_set_source(&n, witness, bound);
	return n;
}

static struct memory_needed needed_at(struct memory_needed n, uint64_t elapsed_ns)
{
	n.has_time = true;
	n.elapsed_ns = elapsed_ns;
	return n;
}

/* Sets the upper bound of the sum of RSS. Returns false if it is unknown. */
static bool rss_most(const struct summary *s, uint64_t *bytes)
{
	*bytes = s->has_rss_peak_exact ? s->rss_peak_exact_bytes : s->rss_peak_upper_bytes;
	/* a bound below a sampled value is wrong */
	return s->has_rss_peak_exact ||
	       (s->has_rss_peak_upper && *bytes >= s->rss_peak_bytes / 100 * 99);
}

/* Returns by how much RSS may have exceeded @seen_bytes. */
static uint64_t rss_beyond(const struct summary *s, uint64_t seen_bytes)
{
	uint64_t most;

	if (!rss_most(s, &most))
		most = s->has_rss_peak ? s->rss_peak_bytes : 0;
	return most > seen_bytes ? most - seen_bytes : 0;
}

/* Returns true if one process accounts for almost all RSS, so that little is counted twice. */
static bool rss_is_of_one(const struct summary *s, uint64_t most)
{
	return s->has_process_rss_peak && s->process_rss_peak_exact &&
	       !exceeds_by_a_tenth(most, s->process_rss_peak_bytes);
}

static struct memory_needed needed_by_rss(const struct summary *s)
{
	/* then the peak is the high-water mark of one process, reached at an unknown time */
	const bool is_of_one_alone = s->bounds.is_from_proc && s->has_process_rss_peak &&
				     s->rss_peak_bytes == s->process_rss_peak_bytes;
	struct memory_needed n;
	uint64_t most;

	if (!rss_most(s, &most)) {
		n = needed_make("rss", at_least,
				s->has_rss_peak ? s->rss_peak_bytes : s->process_rss_peak_bytes);

		return s->has_rss_peak && !is_of_one_alone ? needed_at(n, s->rss_peak_elapsed_ns)
							   : n;
	}
	n = needed_make("rss", rss_is_of_one(s, most) ? equal : at_most, most);
	if (s->has_rss_peak_exact)
		return needed_at(n, s->rss_peak_exact_elapsed_ns);
	return exceeds_by_a_tenth(most, s->rss_peak_bytes) ? n
							   : needed_at(n, s->rss_peak_elapsed_ns);
}

/* Estimates from the cgroup. The kernel's mark is an upper bound, close with little page cache. */
static struct memory_needed needed_by_cgroup(const struct summary *s)
{
	const struct needed_seen *seen = &s->seen;
	const uint64_t least = seen->cgroup_bytes, unseen = rss_beyond(s, seen->sample_rss_bytes);
	const bool has_most = seen->has_cgroup_most && seen->cgroup_most_bytes >= least;
	uint64_t rss;

	if (has_most && !exceeds_by_a_tenth(seen->cgroup_most_bytes, least))
		return needed_at(needed_make("cgroup", equal, seen->cgroup_most_bytes),
				 seen->cgroup_elapsed_ns);
	/* memory that appeared between samples may be shared by processes */
	if (unseen > least / 10 && has_most)
		return needed_make("cgroup", at_most, seen->cgroup_most_bytes);
	if (unseen > least / 10)
		return needed_by_rss(s);
	return needed_at(
		needed_make("cgroup", rss_most(s, &rss) ? equal : at_least, least + unseen),
		seen->cgroup_elapsed_ns);
}

/* Estimates from PSS. RSS may have peaked between readings; a failed reading leaves only RSS. */
static struct memory_needed needed_by_pss(const struct summary *s)
{
	const struct needed_seen *seen = &s->seen;
	const uint64_t beyond = rss_beyond(s, seen->covered_rss_bytes);
	const uint64_t all = seen->pss_bytes + beyond;
	uint64_t most;
	struct memory_needed n;

	if (!rss_most(s, &most))
		n = needed_make("pss", at_least, seen->pss_bytes);
	else if (seen->unread_rss_bytes)
		return needed_make("rss", at_most, most);
	else
		n = needed_make("pss", exceeds_by_a_tenth(all, seen->pss_bytes) ? at_most : equal,
				all < most ? all : most);
	return needed_at(n, seen->pss_elapsed_ns);
}

/* Returns true if RSS is good enough: one process holds it, or it is negligible. */
static bool rss_is_sufficient(const struct summary *s)
{
	uint64_t most;

	if (!rss_most(s, &most))
		return s->has_rss_peak && s->rss_peak_bytes < SMALL_BYTES;
	return rss_is_of_one(s, most) || most < SMALL_BYTES;
}

static struct memory_needed needed_add_unmapped(struct memory_needed n,
						const struct needed_seen *seen)
{
	if (*n.witness && seen->unmapped_bytes > FEW_BYTES && seen->unmapped_bytes > n.bytes / 100)
		n.unmapped_bytes = seen->unmapped_bytes;
	return n;
}

struct memory_needed memory_needed_of(const struct summary *s)
{
	const struct needed_seen *seen = &s->seen;
	const uint64_t of_others = seen->has_cgroup ? seen->cgroup_bytes
				   : seen->has_pss  ? seen->pss_bytes
						    : 0;
	struct memory_needed n;
	uint64_t most;

	if (*s->needed.witness)
		return s->needed;
	if (!rss_most(s, &most))
		most = s->rss_peak_bytes;
	if (of_others && (!rss_is_sufficient(s) || exceeds_by_a_tenth(of_others, most)))
		return seen->has_cgroup ? needed_by_cgroup(s)
					: needed_add_unmapped(needed_by_pss(s), seen);
	n = needed_by_rss(s);
	if (!n.bytes)
		return (struct memory_needed){ 0 };
	/* the cgroup would have included in-memory files */
	return seen->has_cgroup ? n : needed_add_unmapped(n, seen);
}

bool needed_is_least(const struct memory_needed *n)
{
	return !strcmp(n->bound, at_least);
}

static bool needed_is_most(const struct memory_needed *n)
{
	return !strcmp(n->bound, at_most);
}

const char *needed_bound_text(const struct memory_needed *n)
{
	return needed_is_most(n) ? "up to " : needed_is_least(n) ? "at least " : "";
}

const char *needed_bound_sign(const struct memory_needed *n)
{
	return needed_is_most(n) ? "<= " : needed_is_least(n) ? ">= " : "";
}
