// SPDX-License-Identifier: BSD-2-Clause
#include "view/memory_text.h"

#include "view/format.h"
#include "view/summary_parts.h"

#include <string.h>

#define NAME_COLUMNS 34
#define HOLDERS_SHOWN 4

/* Within a hundredth: shown as one figure. */
static bool peaks_are_close(uint64_t low, uint64_t high)
{
	return high > low ? high - low <= high / 100 : low - high <= low / 100;
}

/* The exact peak; or its range, from the largest sample to the bound by high-water marks. */
static void memory_put_tree_peak(FILE *f, const struct summary *s)
{
	uint64_t low = s->rss_peak_bytes, high = s->rss_peak_upper_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];

	if (!s->has_rss_peak)
		return;
	fputs("  memory      peak ", f);
	if (s->has_rss_peak_exact)
		fprintf(f, "%s exactly, at %s (%s %s; upper bound %s)\n",
			format_bytes(a, s->rss_peak_exact_bytes),
			format_seconds(b, s->rss_peak_exact_elapsed_ns),
			low == s->process_rss_peak_bytes ? "one process alone" : "a sample saw",
			format_bytes(c, low),
			s->has_rss_peak_upper ? format_bytes((char[FORMAT_BYTES]){ 0 }, high)
					      : "-");
	else if (!s->has_rss_peak_upper)
		fprintf(f, "at least %s resident, at %s\n", format_bytes(a, low),
			format_seconds(b, s->rss_peak_elapsed_ns));
	else if (high < low && !peaks_are_close(low, high))
		fprintf(f,
			"at least %s resident; the upper bound, %s, is wrong: please report this\n",
			format_bytes(a, low), format_bytes(c, high));
	else if (peaks_are_close(low, high) && low != s->process_rss_peak_bytes)
		fprintf(f, "%s resident, at %s\n", format_bytes(a, high > low ? high : low),
			format_seconds(b, s->rss_peak_elapsed_ns));
	else if (peaks_are_close(low,
				 high)) /* no sample saw it: it is the kernel's high-water mark */
		fprintf(f, "%s resident\n", format_bytes(a, high > low ? high : low));
	else if (low == s->process_rss_peak_bytes)
		fprintf(f, "between %s (one process alone) and %s resident\n", format_bytes(a, low),
			format_bytes(c, high));
	else
		fprintf(f, "between %s (a sample, at %s) and %s resident\n", format_bytes(a, low),
			format_seconds(b, s->rss_peak_elapsed_ns), format_bytes(c, high));
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

void memory_text(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	memory_put_tree_peak(f, s);
	if (s->marks_reset)
		fputs("              no upper bound: a process reset its high-water mark\n", f);
	if (s->has_rss_peak_exact)
		memory_put_holders(f, &s->holders);
	if (s->has_pss_peak)
		memory_put_pss(f, s);
	if (s->has_process_rss_peak)
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
