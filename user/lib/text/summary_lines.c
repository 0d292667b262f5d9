// SPDX-License-Identifier: BSD-2-Clause
#include "text/summary_lines.h"

#include "base/memory.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 34
#define HOLDERS_SHOWN 4

/* Returns true if the bounds differ by at most 1 %, so that one figure is enough. */
static bool peaks_are_close(uint64_t low, uint64_t high)
{
	return high > low ? high - low <= high / 100 : low - high <= low / 100;
}

uint64_t memory_peak_bytes(const struct summary *s)
{
	const uint64_t low = s->has_rss_peak ? s->rss_peak_bytes : 0,
		       high = s->rss_peak_upper_bytes;

	if (s->has_rss_peak_exact)
		return s->rss_peak_exact_bytes;
	if (s->has_rss_peak && s->has_rss_peak_upper && peaks_are_close(low, high))
		return high > low ? high : low;
	return low;
}

/* The lines about memory: the first has the title, whichever it is. */
struct memory_lines {
	FILE *f;
	bool has_begun;
};

static FILE *memory_line(struct memory_lines *m)
{
	fputs(m->has_begun ? "              " : "  memory      ", m->f);
	m->has_begun = true;
	return m->f;
}

static void memory_put_exact_peak(FILE *f, const struct summary *s, bool has_bounds)
{
	uint64_t low = s->rss_peak_bytes;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak %s exactly, at %s", format_bytes(a, s->rss_peak_exact_bytes),
		format_seconds(b, s->rss_peak_exact_elapsed_ns));
	if (has_bounds && s->has_rss_peak)
		fprintf(f, " (%s %s; upper bound %s)",
			low == s->process_rss_peak_bytes ? "one process alone" : "a sample saw",
			format_bytes(a, low),
			s->has_rss_peak_upper ? format_bytes(b, s->rss_peak_upper_bytes) : "-");
	fputc('\n', f);
}

static void memory_put_close_peak(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak %s resident", format_bytes(a, memory_peak_bytes(s)));
	/* a peak that is a process's high-water mark has no known time */
	if (s->rss_peak_bytes != s->process_rss_peak_bytes)
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

/* Writes the upper bound of a peak, which is a sufficient amount of memory. */
static void memory_put_upper_bound(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(f, "peak at most %s resident", format_bytes(a, s->rss_peak_upper_bytes));
	if (s->has_process_rss_peak)
		fprintf(f, "; the largest process had %s%s",
			s->process_rss_peak_exact ? "" : "about ",
			format_bytes(b, s->process_rss_peak_bytes));
	fputc('\n', f);
}

/* Writes the exact peak, or its bounds: the largest sample and the sum of high-water marks. */
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

/* Returns true if the line on the peak of the tree already names the largest process. */
static bool largest_process_is_shown(const struct summary *s, bool has_bounds)
{
	if (s->has_rss_peak && !s->has_rss_peak_exact && !s->has_rss_peak_upper)
		return s->rss_peak_bytes == s->process_rss_peak_bytes;
	return !has_bounds && s->has_rss_peak && !s->has_rss_peak_exact && s->has_rss_peak_upper &&
	       s->rss_peak_upper_bytes > s->rss_peak_bytes &&
	       !peaks_are_close(s->rss_peak_bytes, s->rss_peak_upper_bytes);
}

static void memory_put_holders(struct memory_lines *m, const struct holders *all)
{
	char a[FORMAT_BYTES];

	for (size_t i = 0; i < all->nr && i < HOLDERS_SHOWN; i++) {
		const struct holder *h = &all->largest[i];
		FILE *f = memory_line(m);

		fprintf(f, "%s %s by ", i ? "        " : "held then",
			format_bytes(a, h->rss_bytes));
		format_name(f, h->exe ? h->exe : h->comm, NAME_COLUMNS);
		fprintf(f, " (%d)\n", h->pid);
	}
}

/* Writes the size of files in memory, which may belong to other programs. */
static void memory_put_files(FILE *f, const struct memory_needed *n)
{
	char a[FORMAT_BYTES];

	fprintf(f, "besides up to %s of files in memory (tmpfs, memfd) on this machine",
		format_bytes(a, n->unmapped_bytes));
}

/* Writes the memory by a better source than RSS, which counts shared pages once per process. */
static void memory_put_needed(FILE *f, const struct memory_needed *n)
{
	char a[FORMAT_BYTES];

	fprintf(f, "needed %s%s (measured by its %s)", needed_bound_text(n),
		format_bytes(a, n->bytes), strcmp(n->witness, "pss") ? "cgroup" : "PSS");
	if (n->has_time)
		fprintf(f, ", at %s", format_seconds(a, n->elapsed_ns));
	if (n->unmapped_bytes) {
		fputs("; ", f);
		memory_put_files(f, n);
	}
	fputc('\n', f);
}

/* Writes the peak of PSS. It is only approximate if a sample reused earlier values. */
static void memory_put_pss(struct memory_lines *m, const struct summary *s)
{
	char a[FORMAT_BYTES];

	fprintf(memory_line(m),
		"proportional %s %s (shared pages divided among users, above counted for each)\n",
		s->pss.postponed ? "about" : "at least", format_bytes(a, s->pss_peak_bytes));
	if (s->pss.skipped)
		fprintf(memory_line(m), "without %s process%s that could not be read\n",
			format_count(a, s->pss.skipped), s->pss.skipped == 1 ? "" : "es");
}

/*
 * Returns false if the samples missed most of the peak, so that their split does not apply to it.
 */
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
		fprintf(f, "; %s OOM-killed", format_count(a, s->total.value[M_cgroup_oom_kills]));
	fputc('\n', f);
}

/* Writes the peak of the tree, or its bounds, if any of them is known. */
static void memory_put_tree(struct memory_lines *m, const struct summary *s, bool has_bounds,
			    const struct memory_needed *better)
{
	uint64_t known = s->has_rss_peak ? s->rss_peak_bytes : s->rss_peak_exact_bytes;

	if (!s->has_rss_peak && !s->has_rss_peak_exact)
		return;
	memory_line(m);
	if (better && better->bytes < known)
		fputs("with shared pages counted once per process: ", m->f);
	memory_put_tree_peak(m->f, s, has_bounds);
}

void memory_text(FILE *f, const struct summary *s, bool has_bounds)
{
	const struct memory_needed n = memory_needed_of(s);
	const bool has_better = *n.witness && strcmp(n.witness, "rss") != 0;
	struct memory_lines m = { .f = f };
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (has_better)
		memory_put_needed(memory_line(&m), &n);
	memory_put_tree(&m, s, has_bounds, has_better ? &n : NULL);
	if (n.unmapped_bytes && !has_better) {
		memory_put_files(memory_line(&m), &n);
		fputc('\n', f);
	}
	if (s->marks_reset)
		fputs("no upper bound: a process reset its high-water mark, or freed memory while "
		      "it grew\n",
		      memory_line(&m));
	if (s->has_rss_peak_exact)
		memory_put_holders(&m, &s->holders);
	if (s->has_pss_peak && strcmp(n.witness, "pss") != 0)
		memory_put_pss(&m, s);
	if (s->has_process_rss_peak && !largest_process_is_shown(s, has_bounds))
		fprintf(memory_line(&m), "largest process %s%s\n",
			s->process_rss_peak_exact ? "" : "about ",
			format_bytes(a, s->process_rss_peak_bytes));
	if (s->hugetlb_peak_bytes)
		fprintf(memory_line(&m), "huge pages %s besides, at a sample\n",
			format_bytes(a, s->hugetlb_peak_bytes));
	memory_put_cgroup(f, s);
	if (summary_has_total(s, M_minflt) && summary_has_total(s, M_majflt))
		fprintf(f, "  faults      %s minor, %s major\n",
			format_count(a, s->total.value[M_minflt]),
			format_count(b, s->total.value[M_majflt]));
}

#define INDENT 14
#define BAR_COLUMNS 50
#define LEAST_BAR 10

/* Letter of each part. "." is time without known activity. */
static const char letters[NR_TIME_PARTS] = "usqdmi.";

static size_t bar_columns(size_t width)
{
	if (!width || width >= INDENT + BAR_COLUMNS)
		return BAR_COLUMNS;
	return width > INDENT + LEAST_BAR ? width - INDENT : LEAST_BAR;
}

static void time_put_bar(FILE *f, const struct time_parts *t, size_t columns)
{
	unsigned share[NR_TIME_PARTS];

	time_parts_divide(t, (unsigned)columns, share);
	for (int i = 0; i < NR_TIME_PARTS; i++)
		while (share[i]--)
			fputc(letters[i], f);
}

/*
 * Writes @item without a break, on this line (of which @at columns are used) or on the next.
 * Returns the columns used.
 */
static size_t item_put(FILE *f, const char *item, size_t at, size_t width)
{
	size_t columns = strlen(item);

	if (at > INDENT && width && at + 1 + columns > width) {
		fprintf(f, "\n%*s%s", INDENT, "", item);
		return INDENT + columns;
	}
	fprintf(f, "%s%s", at > INDENT ? " " : "", item);
	return at + (at > INDENT) + columns;
}

size_t time_waits(const struct sample *total, const unsigned percent[NR_TIME_PARTS],
		  struct waited_share list[NR_WAITED])
{
	const unsigned whole = percent[TIME_OTHER] + percent[TIME_DISK] + percent[TIME_MEMORY];

	return waited_divide(total, whole, list);
}

/* Writes what the threads waited for while they did not run. */
static void time_put_waits(FILE *f, const struct sample *total,
			   const unsigned percent[NR_TIME_PARTS], size_t width)
{
	struct waited_share list[NR_WAITED];
	size_t at = INDENT, nr = time_waits(total, percent, list);
	char item[64];

	if (!nr)
		return;
	fprintf(f, "  %-*s", INDENT - 2, "not running");
	for (size_t i = 0; i < nr; i++) {
		snprintf(item, sizeof(item), "%s %u %%%s", waited_word(list[i].what), list[i].share,
			 i + 1 < nr ? "," : "");
		at = item_put(f, item, at, width);
	}
	fputc('\n', f);
}

void time_text(FILE *f, const struct sample *total, size_t width)
{
	struct time_parts t;
	unsigned percent[NR_TIME_PARTS];
	char a[FORMAT_BYTES], item[2 * FORMAT_BYTES];
	size_t at = INDENT;

	if (!time_parts_of(&t, total))
		return;
	time_parts_divide(&t, 100, percent);
	fputs("  time        ", f);
	time_put_bar(f, &t, bar_columns(width));
	fprintf(f, "\n%*s", INDENT, "");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		if (!t.ns[i])
			continue;
		snprintf(item, sizeof(item), "%c %s %s (%u %%),", letters[i], time_part_name(&t, i),
			 format_seconds(a, t.ns[i]), percent[i]);
		at = item_put(f, item, at, width);
	}
	snprintf(item, sizeof(item), "all threads %s", format_seconds(a, t.total_ns));
	item_put(f, item, at, width);
	fputc('\n', f);
	time_put_waits(f, total, percent, width);
}

void time_json(struct jsonw *j, const struct sample *total)
{
	static const char *const keys[NR_TIME_PARTS] = {
		[TIME_USER] = "user_seconds",     [TIME_SYSTEM] = "system_seconds",
		[TIME_QUEUE] = "queue_seconds",   [TIME_DISK] = "disk_seconds",
		[TIME_MEMORY] = "memory_seconds", [TIME_INTERRUPTS] = "interrupts_seconds",
		[TIME_OTHER] = "other_seconds",
	};
	struct time_parts t;

	if (!time_parts_of(&t, total))
		return;
	jsonw_object(j, "time");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		bool is_all_else = i == TIME_OTHER && !t.has[TIME_DISK];

		if (t.has[i])
			jsonw_decimal(j, is_all_else ? "not_running_seconds" : keys[i], t.ns[i], 9);
	}
	jsonw_object_end(j);
}

char *format_run_end(char out[RUN_END_BYTES], const struct summary *s)
{
	if (s->signal && s->oom.is_command)
		snprintf(out, RUN_END_BYTES, "was killed by the kernel: out of memory");
	else if (s->signal)
		snprintf(out, RUN_END_BYTES, "was killed by signal %d (%s)", s->signal,
			 strsignal(s->signal));
	else
		snprintf(out, RUN_END_BYTES, "ended with %d", s->exit_code);
	return out;
}

#define LIMIT_NAME_COLUMNS 32

static bool limit_is_of_process(const struct limit_hit *hit)
{
	const char *word = limit_of_words[LIMIT_OF_PROCESS];

	return !strncmp(hit->text, word, strlen(word));
}

void limit_text(FILE *f, const struct limit_hit *hit)
{
	char value[FORMAT_BYTES], elapsed[FORMAT_BYTES];

	format_name(f, hit->text, LIMIT_TEXT);
	fprintf(f, ": %s after %s", format_value(value, hit->unit, hit->value),
		format_seconds(elapsed, hit->elapsed_ns));
	if (hit->is_contradicted) {
		fprintf(f, ", but only %s without counting shared pages twice",
			format_bytes(value, hit->needed_bytes));
		return;
	}
	if (hit->span) {
		fputs(", in the span ", f);
		format_name(f, hit->span_name, LIMIT_NAME_COLUMNS);
	}
	if (!hit->has_process)
		return;
	fputs(limit_is_of_process(hit) ? ", in " : ", most of it in ", f);
	format_name(f, hit->comm, LIMIT_NAME_COLUMNS);
	fprintf(f, " (%d)", hit->pid);
}

char *limit_text_make(const struct limit_hit *hit)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (f)
		limit_text(f, hit);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Writes "1.2 GiB received, 3 B sent", without unknown parts. */
static void net_put_pair(FILE *f, const char *title, bool has_rx, uint64_t rx, bool has_tx,
			 uint64_t tx)
{
	char a[FORMAT_BYTES];

	fprintf(f, "  %-10s  ", title);
	if (has_rx)
		fprintf(f, "%s received%s", format_bytes(a, rx), has_tx ? ", " : "");
	if (has_tx)
		fprintf(f, "%s sent", format_bytes(a, tx));
}

/* Stores the sum of the metrics. Returns false if one of them was not counted. */
static bool net_add_up(const struct summary *s, enum metric_id tcp, enum metric_id udp,
		       enum metric_id other, uint64_t *sum)
{
	const uint64_t *v = s->total.value;

	*sum = v[tcp] + v[udp] + v[other];
	return summary_has_total(s, tcp) && summary_has_total(s, udp) &&
	       summary_has_total(s, other);
}

/*
 * The loopback counters are lower bounds: traffic that a socket cannot recognize as local
 * (datagrams sent without a peer, a bridge to a container) is missing in them.
 */
static void net_put_loopback(FILE *f, const struct summary *s, uint64_t rx, uint64_t tx)
{
	const uint64_t its_rx = s->total.value[M_net_rx_loopback];
	const uint64_t its_tx = s->total.value[M_net_tx_loopback];
	char a[FORMAT_BYTES];

	if (!summary_has_total(s, M_net_rx_loopback) || !summary_has_total(s, M_net_tx_loopback) ||
	    (!its_rx && !its_tx))
		return;
	if (its_rx == rx && its_tx == tx) {
		fputs("; all of it on this machine", f);
		return;
	}
	fputs("; of these at least", f);
	if (its_rx)
		fprintf(f, " %s received", format_bytes(a, its_rx));
	if (its_tx)
		fprintf(f, "%s %s sent", its_rx ? " and" : "", format_bytes(a, its_tx));
	fputs(" on this machine", f);
}

/*
 * Writes TCP, UDP and others. Unix sockets never leave the machine, so they have a line of their
 * own.
 */
static void net_put_network(FILE *f, const struct summary *s)
{
	uint64_t rx, tx;
	bool has_rx = net_add_up(s, M_net_rx_tcp, M_net_rx_udp, M_net_rx_other, &rx);
	bool has_tx = net_add_up(s, M_net_tx_tcp, M_net_tx_udp, M_net_tx_other, &tx);

	if (!has_rx && !has_tx)
		return;
	net_put_pair(f, "network", has_rx, rx, has_tx, tx);
	if (has_rx && has_tx)
		net_put_loopback(f, s, rx, tx);
	fputc('\n', f);
}

static void net_put_unix(FILE *f, const struct summary *s)
{
	const uint64_t *v = s->total.value;
	bool has_rx = summary_has_total(s, M_net_rx_unix);
	bool has_tx = summary_has_total(s, M_net_tx_unix);

	if (!(has_rx && v[M_net_rx_unix]) && !(has_tx && v[M_net_tx_unix]))
		return;
	net_put_pair(f, "Unix", has_rx, v[M_net_rx_unix], has_tx, v[M_net_tx_unix]);
	fputc('\n', f);
}

static void net_put_wire(FILE *f, const struct summary *s)
{
	const uint64_t *v = s->total.value;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!summary_has_total(s, M_net_wire_rx) || !summary_has_total(s, M_net_wire_tx))
		return;
	net_put_pair(f, "packets", true, v[M_net_wire_rx], true, v[M_net_wire_tx]);
	if (summary_has_total(s, M_net_wire_rx_packets) &&
	    summary_has_total(s, M_net_wire_tx_packets))
		fprintf(f, ", in %s and %s", format_count(a, v[M_net_wire_rx_packets]),
			format_count(b, v[M_net_wire_tx_packets]));
	fputc('\n', f);
}

static void net_put_count(FILE *f, const struct summary *s, enum metric_id id, const char *what,
			  bool *is_first)
{
	char a[FORMAT_BYTES];

	if (!summary_has_total(s, id) || !s->total.value[id])
		return;
	fprintf(f, "%s%s %s", *is_first ? "  TCP         connections: " : ", ",
		format_count(a, s->total.value[id]), what);
	*is_first = false;
}

void network_text(FILE *f, const struct summary *s)
{
	bool is_first = true;

	net_put_network(f, s);
	net_put_unix(f, s);
	net_put_wire(f, s);
	net_put_count(f, s, M_net_connects, "opened", &is_first);
	net_put_count(f, s, M_net_failed_connects, "failed", &is_first);
	net_put_count(f, s, M_net_accepts, "came in", &is_first);
	net_put_count(f, s, M_net_retransmits, "segments sent again", &is_first);
	if (!is_first)
		fputc('\n', f);
}

void pushed_text(FILE *f, const struct summary *s)
{
	const struct pushed_counts *c = &s->pushed;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!(c->marks | c->metrics | c->dropped | c->refused | c->malformed))
		return;
	fprintf(f, "  pushed      %s marks, %s metrics", format_count(a, c->marks),
		format_count(b, c->metrics));
	if (c->dropped)
		fprintf(f, "; %s dropped: too many at once", format_count(a, c->dropped));
	if (c->refused)
		fprintf(f, "; %s refused: not from the command", format_count(a, c->refused));
	if (c->malformed)
		fprintf(f, "; %s malformed", format_count(a, c->malformed));
	fputc('\n', f);
}
