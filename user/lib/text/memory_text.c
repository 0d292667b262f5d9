// SPDX-License-Identifier: BSD-2-Clause
#include "text/memory_text.h"

#include "text/format.h"
#include "text/summary_parts.h"

#include <string.h>

#define NAME_COLUMNS 34
#define HOLDERS_SHOWN 4

/* Within a hundredth: shown as one figure. */
static bool peaks_are_close(uint64_t low, uint64_t high)
{
	return high > low ? high - low <= high / 100 : low - high <= low / 100;
}

static void memory_put_exact_peak(FILE *f, const struct summary *s, bool has_bounds)
{
	uint64_t low = s->rss_peak_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak %s exactly, at %s", format_bytes(a, s->rss_peak_exact_bytes),
		format_seconds(b, s->rss_peak_exact_elapsed_ns));
	if (has_bounds)
		fprintf(f, " (%s %s; upper bound %s)",
			low == s->process_rss_peak_bytes ? "one process alone" : "a sample saw",
			format_bytes(a, low),
			s->has_rss_peak_upper ? format_bytes(b, s->rss_peak_upper_bytes) : "-");
	fputc('\n', f);
}

/* Lower and upper bound are as good as one. */
static void memory_put_close_peak(FILE *f, const struct summary *s)
{
	uint64_t low = s->rss_peak_bytes, high = s->rss_peak_upper_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak %s resident", format_bytes(a, high > low ? high : low));
	/* if no sample saw it, it is the kernel's high-water mark: its time is not known */
	if (low != s->process_rss_peak_bytes)
		fprintf(f, ", at %s", format_seconds(b, s->rss_peak_elapsed_ns));
	fputc('\n', f);
}

static void memory_put_bounds(FILE *f, const struct summary *s)
{
	uint64_t low = s->rss_peak_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak between %s (", format_bytes(a, low));
	if (low == s->process_rss_peak_bytes)
		fputs("one process alone", f);
	else
		fprintf(f, "a sample, at %s", format_seconds(b, s->rss_peak_elapsed_ns));
	fprintf(f, ") and %s resident\n", format_bytes(a, s->rss_peak_upper_bytes));
}

/* A peak that is known by its bounds, which suffice to know how much is enough. */
static void memory_put_upper_bound(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "never more than %s at once", format_bytes(a, s->rss_peak_upper_bytes));
	if (s->has_process_rss_peak)
		fprintf(f, "; the largest process had %s%s",
			s->process_rss_peak_exact ? "" : "about ",
			format_bytes(b, s->process_rss_peak_bytes));
	fputc('\n', f);
}

/* The exact peak; or its range, from the largest sample to the bound by high-water marks. */
static void memory_put_tree_peak(FILE *f, const struct summary *s, bool has_bounds)
{
	uint64_t low = s->rss_peak_bytes, high = s->rss_peak_upper_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (s->has_rss_peak_exact)
		memory_put_exact_peak(f, s, has_bounds);
	else if (!s->has_rss_peak_upper && low == s->process_rss_peak_bytes)
		fprintf(f, "peak at least %s resident, of one process\n", format_bytes(a, low));
	else if (!s->has_rss_peak_upper)
		fprintf(f, "peak at least %s resident, at %s\n", format_bytes(a, low),
			format_seconds(b, s->rss_peak_elapsed_ns));
	else if (peaks_are_close(low, high))
		memory_put_close_peak(f, s);
	else if (high < low)
		fprintf(f,
			"peak at least %s resident; the upper bound, %s, is wrong: please report "
			"this\n",
			format_bytes(a, low), format_bytes(b, high));
	else if (has_bounds)
		memory_put_bounds(f, s);
	else
		memory_put_upper_bound(f, s);
}

/* The sentence of the tree's peak has it already. */
static bool largest_process_is_shown(const struct summary *s, bool has_bounds)
{
	if (s->has_rss_peak && !s->has_rss_peak_exact && !s->has_rss_peak_upper)
		return s->rss_peak_bytes == s->process_rss_peak_bytes;
	return !has_bounds && s->has_rss_peak && !s->has_rss_peak_exact && s->has_rss_peak_upper &&
	       s->rss_peak_upper_bytes > s->rss_peak_bytes &&
	       !peaks_are_close(s->rss_peak_bytes, s->rss_peak_upper_bytes);
}

static void memory_put_holders(FILE *f, const struct holders *all)
{
	char a[FORMAT_BYTES];

	for (size_t i = 0; i < all->nr && i < HOLDERS_SHOWN; i++) {
		const struct holder *h = &all->largest[i];

		fprintf(f, "              %s %s by ", i ? "        " : "held then",
			format_bytes(a, h->rss_bytes));
		format_name(f, h->exe ? h->exe : h->comm, NAME_COLUMNS);
		fprintf(f, " (%d)\n", h->pid);
	}
}

/* Of the run or of others: that is not known. */
static void memory_put_files(FILE *f, const struct memory_needed *n)
{
	char a[FORMAT_BYTES];

	fprintf(f, "besides up to %s of files in memory (tmpfs, memfd) on this machine",
		format_bytes(a, n->unmapped_bytes));
}

/* A better source than RSS, which has what processes share for each of them. */
static void memory_put_needed(FILE *f, const struct memory_needed *n)
{
	char a[FORMAT_BYTES];

	fprintf(f, "  memory      needed %s%s, by its %s", needed_bound_text(n),
		format_bytes(a, n->bytes), strcmp(n->witness, "pss") ? "cgroup" : "PSS");
	if (n->has_time)
		fprintf(f, ", at %s", format_seconds(a, n->elapsed_ns));
	if (n->unmapped_bytes) {
		fputs("; ", f);
		memory_put_files(f, n);
	}
	fputc('\n', f);
}

/* A value kept from an earlier sample may have changed since: then the sum is no bound. */
static void memory_put_pss(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES];

	fprintf(f,
		"              proportional %s %s (shared pages divided among users, above counted "
		"for each)\n",
		s->pss.postponed ? "about" : "at least", format_bytes(a, s->pss_peak_bytes));
	if (s->pss.skipped)
		fprintf(f, "              without %s process%s that could not be read\n",
			format_count(a, s->pss.skipped), s->pss.skipped == 1 ? "" : "es");
}

/* False: the samples missed most of the peak, and their split is not that of the peak. */
static bool cgroup_split_has_peak(const struct summary *s)
{
	uint64_t seen = s->cgroup_peak_anon_bytes + s->cgroup_peak_file_bytes;

	return s->has_cgroup_split && seen >= s->cgroup_peak_bytes / 2;
}

static void memory_put_cgroup(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!s->has_cgroup_peak)
		return;
	fprintf(f, "  its cgroup  %s at its peak", format_bytes(a, s->cgroup_peak_bytes));
	if (cgroup_split_has_peak(s))
		fprintf(f, "; at the largest sample %s anonymous, %s page cache",
			format_bytes(a, s->cgroup_peak_anon_bytes),
			format_bytes(b, s->cgroup_peak_file_bytes));
	if (!s->oom_kills && summary_has_total(s, M_cgroup_oom_kills) &&
	    s->total.value[M_cgroup_oom_kills])
		fprintf(f, "; %s killed for lack of memory",
			format_count(a, s->total.value[M_cgroup_oom_kills]));
	fputc('\n', f);
}

void memory_text(FILE *f, const struct summary *s, bool has_bounds)
{
	const struct memory_needed n = memory_needed_of(s);
	const bool has_better = *n.witness && strcmp(n.witness, "rss") != 0;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (has_better)
		memory_put_needed(f, &n);
	if (s->has_rss_peak) {
		fputs(!has_better ? "  memory      "
		      : n.bytes < s->rss_peak_bytes
			      ? "              with shared pages for each process: "
			      : "              ",
		      f);
		memory_put_tree_peak(f, s, has_bounds);
	}
	if (n.unmapped_bytes && !has_better) {
		fputs("              ", f);
		memory_put_files(f, &n);
		fputc('\n', f);
	}
	if (s->marks_reset)
		fputs("              no upper bound: a process reset its high-water mark\n", f);
	if (s->has_rss_peak_exact)
		memory_put_holders(f, &s->holders);
	if (s->has_pss_peak && strcmp(n.witness, "pss") != 0)
		memory_put_pss(f, s);
	if (s->has_process_rss_peak && !largest_process_is_shown(s, has_bounds))
		fprintf(f, "              largest process %s%s\n",
			s->process_rss_peak_exact ? "" : "about ",
			format_bytes(a, s->process_rss_peak_bytes));
	if (s->hugetlb_peak_bytes)
		fprintf(f, "              huge pages %s besides, at a sample\n",
			format_bytes(a, s->hugetlb_peak_bytes));
	memory_put_cgroup(f, s);
	if (summary_has_total(s, M_minflt) && summary_has_total(s, M_majflt))
		fprintf(f, "  faults      %s minor, %s major\n",
			format_count(a, s->total.value[M_minflt]),
			format_count(b, s->total.value[M_majflt]));
}
