// SPDX-License-Identifier: BSD-2-Clause
#include "text/summary_text.h"

#include "run/summary.h"
#include "text/format.h"
#include "text/instances_text.h"
#include "text/limit_text.h"
#include "text/memory_text.h"
#include "text/programs_text.h"
#include "text/summary_parts.h"
#include "text/time_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What sockets moved, as lines of the summary. */

/* "1.2 GiB received, 3 B sent"; of what is not known only the other half. */
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

/* False: one of them was not counted. */
static bool net_add_up(const struct summary *s, enum metric_id tcp, enum metric_id udp,
		       enum metric_id other, uint64_t *sum)
{
	const uint64_t *v = s->total.value;

	*sum = v[tcp] + v[udp] + v[other];
	return summary_has_total(s, tcp) && summary_has_total(s, udp) &&
	       summary_has_total(s, other);
}

/*
 * Of what a socket does not know to stay on this machine, some may: of datagrams that it sends
 * without a peer, or over a bridge to a container.
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

/* Without Unix sockets: what goes over those stays on this machine for certain. */
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

/* Nothing of what was not counted, or did not happen. */
static void summary_put_net(FILE *f, const struct summary *s)
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

#define NAME_COLUMNS 34
#define INDENT 14 /* columns before the text of a line */
#define LEAST_WHAT 16
#define MOST_WHAT 200

/* How it ended, and after what time. */
static void summary_put_end(FILE *f, const struct summary *s, bool is_running)
{
	char wall[FORMAT_BYTES];

	if (is_running) {
		fprintf(f, "running, %s so far", format_seconds(wall, s->wall_ns));
		return;
	}
	if (s->is_attached)
		fputs("attached", f);
	else if (!s->has_status)
		fputs("the command's end was not seen", f);
	else if (s->signal && s->oom.is_command)
		fputs("the command was killed by the kernel: out of memory", f);
	else if (s->signal)
		fprintf(f, "the command was killed by signal %d (%s)", s->signal,
			strsignal(s->signal));
	else
		fprintf(f, "the command ended with %d", s->exit_code);
	if (s->wall_ns || s->samples || summary_is_collectors(s))
		fprintf(f, " %s %s", s->is_attached ? "for" : "after",
			format_seconds(wall, s->wall_ns));
}

/* The end comes first: a long command must not push it away. */
static void summary_put_head(FILE *f, const struct summary *s, const struct summary_view *v,
			     size_t width)
{
	size_t room = MOST_WHAT, length;
	char *text = NULL;
	FILE *end = open_memstream(&text, &length);

	if (!end)
		return;
	fputs("bpfmon: ", end);
	summary_put_end(end, s, v->is_running);
	if (!fclose(end))
		fputs(text, f);
	if (width)
		room = width > length + 2 + LEAST_WHAT ? width - length - 2 : LEAST_WHAT;
	free(text);
	if (v->what && *v->what) {
		fputs(": ", f);
		format_beginning(f, v->what, room);
	}
	fputc('\n', f);
}

static void summary_put_oom(FILE *f, const struct summary *s)
{
	const struct oom_kill *k = &s->oom;
	char a[FORMAT_BYTES];

	if (!s->oom_kills)
		return;
	fprintf(f, "  killed      %" PRIu64 " for lack of memory: ", s->oom_kills);
	format_name(f, k->comm, NAME_COLUMNS);
	fprintf(f, " (%d)", k->pid);
	if (k->has_rss)
		fprintf(f, " with %s resident", format_bytes(a, k->rss_bytes));
	if (k->limit_bytes) {
		fprintf(f, "; the limit was %s of cgroup ", format_bytes(a, k->limit_bytes));
		format_name(f, k->cgroup, NAME_COLUMNS);
		fputc('\n', f);
	} else {
		fputs("; the whole machine had no room\n", f);
	}
}

static void summary_put_limit(FILE *f, const struct summary *s)
{
	if (!s->limit.text[0])
		return;
	fprintf(f, "  %-12s", s->limit.is_end ? "ENDED" : "limit");
	fputs("beyond ", f);
	limit_text(f, &s->limit);
	fputc('\n', f);
}

static void summary_put_cpu(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];
	uint64_t mean = summary_cores_mean(s);

	if (!summary_has_total(s, M_cpu))
		return;
	fprintf(f, "  CPU         %s", format_seconds(a, s->total.value[M_cpu]));
	if (summary_has_total(s, M_user) && summary_has_total(s, M_system))
		fprintf(f, " (user %s, system %s)", format_seconds(b, s->total.value[M_user]),
			format_seconds(c, s->total.value[M_system]));
	fprintf(f, ", %" PRIu64 ".%02" PRIu64 " cores on average", mean / 1000, mean % 1000 / 10);
	if (s->cores_peak)
		fprintf(f, ", %" PRIu64 ".%02" PRIu64 " at the peak", s->cores_peak / 1000,
			s->cores_peak % 1000 / 10);
	fputc('\n', f);
	if (s->by_cgroup && summary_has_total(s, M_cgroup_cpu))
		fprintf(f, "              %s is what the cgroup's own files said last\n",
			format_seconds(a, s->total.value[M_cgroup_cpu]));
	if (s->cpu_unsure_ns)
		fprintf(f, "              up to %s more or less: tasks were moved while they ran\n",
			format_seconds(a, s->cpu_unsure_ns));
	if (summary_has_total(s, M_runqueue_wait))
		fprintf(f, "  waited      %s for a CPU\n",
			format_seconds(a, s->total.value[M_runqueue_wait]));
	if (summary_has_total(s, M_cgroup_throttled) && s->total.value[M_cgroup_throttled])
		fprintf(f, "              %s for which the CPU limit throttled its cgroup\n",
			format_seconds(a, s->total.value[M_cgroup_throttled]));
	if (s->blkio_wrong)
		fputs("              for disks not known: the kernel counted more than can be "
		      "true\n",
		      f);
}

static void summary_put_io(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (summary_has_total(s, M_read) && summary_has_total(s, M_write))
		fprintf(f, "  storage     %s read, %s%s written\n",
			format_bytes(a, s->total.value[M_read]),
			summary_write_is_bound(s) ? "up to " : "",
			format_bytes(b, s->total.value[M_write]));
	if (summary_has_total(s, M_rchar) && summary_has_total(s, M_wchar))
		fprintf(f, "  calls       %s read, %s written\n",
			format_bytes(a, s->total.value[M_rchar]),
			format_bytes(b, s->total.value[M_wchar]));
}

static void summary_put_processes(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];

	if (s->bounds.is_from_proc)
		fprintf(f, "  processes   %s%s\n", s->bounds.has_all_processes ? "" : "at least ",
			format_count(a, s->processes_total));
	if (!summary_has_total(s, M_forks))
		return;
	fprintf(f, "  processes   %s, %s threads more, %s execs",
		format_count(a, s->processes_total),
		format_count(b, s->total.value[M_threads_created]),
		format_count(c, s->total.value[M_execs]));
	if (s->outlived)
		fprintf(f, s->is_attached ? "; %s alive still" : "; %s outlived the command",
			format_count(a, s->outlived));
	if (s->by_cgroup && (s->entered || s->left))
		fprintf(f, "; %s came in, %s were moved out", format_count(a, s->entered),
			format_count(b, s->left));
	fputc('\n', f);
}

/* Nothing if no program pushed anything. */
static void summary_put_pushed(FILE *f, const struct summary *s)
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

static const char *summary_format_cost(char *buffer, const struct role_cost *cost)
{
	return cost->rss_bytes ? format_bytes(buffer, cost->rss_bytes) : "-";
}

/* Which figures are no less than the truth, and may be less. */
static void summary_put_bounds(FILE *f, const struct summary *s)
{
	fputs("  from /proc, without BPF (bpfmon check says why): ", f);
	if (s->is_attached)
		fputs("totals since the attach are at least these; so are", f);
	else if (metric_has(&s->bounds.counters, M_cpu))
		fputs("totals are at least these, as a process ignored SIGCHLD; so are", f);
	else if (metric_has(&s->bounds.counters, M_rchar))
		fputs("totals are exact; at least are what calls moved,", f);
	else
		fputs("totals are exact; at least are", f);
	fputs(s->bounds.has_all_processes ? " peaks" : " peaks and the number of processes", f);
}

/* The names of losses may be from a file: untrusted, as any other text of it. */
static void summary_put_completeness(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES];

	if (s->complete && s->bounds.is_from_proc) {
		summary_put_bounds(f, s);
		return;
	}
	if (s->complete) {
		fputs("  complete: nothing was lost", f);
		return;
	}
	fputs("  INCOMPLETE:", f);
	if (s->reason[0]) {
		fputc(' ', f);
		format_name(f, s->reason, sizeof(s->reason));
		fputs(s->nr_losses ? ";" : "", f);
	}
	if (s->nr_losses)
		fputs(" lost", f);
	for (size_t i = 0; i < s->nr_losses; i++) {
		fprintf(f, "%s %s ", i ? "," : "", format_count(a, s->losses[i].count));
		format_name(f, s->losses[i].name, sizeof(s->losses[i].name));
	}
}

static void summary_put_cost(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES], d[FORMAT_BYTES];

	if (s->is_of_agent) {
		fputs("  bpfmon      the agent of this node has followed the run\n", f);
		return;
	}
	fprintf(f, "  bpfmon      %s CPU, %s + %s memory, %s in the kernel\n",
		format_seconds(a, s->collector.cpu_ns + s->recorder.cpu_ns),
		summary_format_cost(b, &s->collector), summary_format_cost(c, &s->recorder),
		format_bytes(d, s->map_bytes));
}

/* A run that is not whole says so before its figures. */
static void summary_put_trouble(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES];

	summary_put_oom(f, s);
	if (s->complete)
		return;
	summary_put_completeness(f, s);
	if (s->late_ticks)
		fprintf(f, "; %s samples skipped", format_count(a, s->late_ticks));
	fputc('\n', f);
}

static void summary_put_foot(FILE *f, const struct summary *s, const struct summary_view *v)
{
	char a[FORMAT_BYTES];

	if (s->nr_programs || (s->total.nr_instances && !v->is_without_instances))
		fputc('\n', f);
	if (s->complete) {
		summary_put_completeness(f, s);
		if (s->late_ticks)
			fprintf(f, "; %s samples skipped", format_count(a, s->late_ticks));
		fputc('\n', f);
	}
	if (s->is_attached && !s->by_cgroup)
		fputs("  note        descendants whose parent had ended before are not found\n", f);
	if (summary_is_collectors(s))
		summary_put_cost(f, s);
	if (s->not_kept[0]) {
		fputs("  NOT KEPT    in the store: ", f);
		format_name(f, s->not_kept, sizeof(s->not_kept));
		fputc('\n', f);
	} else if (s->kept_as) {
		fprintf(f, "  kept        as run %" PRId64 ": bpfmon show %" PRId64 "\n",
			s->kept_as, s->kept_as);
	}
}

static char *summary_unfolded_text(const struct summary *s, const struct summary_view *v,
				   size_t width)
{
	struct answer own;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	if (!v->answer)
		answer_of_run(&own, s, NULL, NULL);
	summary_put_head(f, s, v, width);
	if (v->is_running)
		summary_put_oom(f, s);
	else
		summary_put_trouble(f, s);
	summary_put_limit(f, s);
	answer_text(f, v->answer ? v->answer : &own);
	time_text(f, &s->total, width);
	summary_put_cpu(f, s);
	memory_text(f, s, v->has_bounds);
	summary_put_io(f, s);
	summary_put_net(f, s);
	summary_put_processes(f, s);
	summary_put_pushed(f, s);
	programs_text(f, s, width);
	if (!v->is_without_instances)
		instances_text(f, s, width);
	if (!v->is_without_instances && v->has_bounds)
		latencies_text(f, s);
	if (!v->is_running)
		summary_put_foot(f, s, v);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

char *summary_text(const struct summary *s, const struct summary_view *v, size_t width)
{
	static const struct summary_view none = { 0 };
	char *whole = summary_unfolded_text(s, v ? v : &none, width), *text = NULL;
	size_t length;
	FILE *f;

	if (!whole || !width)
		return whole;
	f = open_memstream(&text, &length);
	if (f) {
		format_folded(f, whole, width, INDENT);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	free(whole);
	return text;
}
