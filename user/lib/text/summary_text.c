// SPDX-License-Identifier: BSD-2-Clause
#include "text/summary_text.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "run/summary.h"
#include "run/tree.h"
#include "text/format.h"
#include "text/markdown.h"
#include "text/meta_text.h"
#include "text/summary_lines.h"
#include "text/summary_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 34
#define INDENT 14 /* columns before the text of a line */
#define LEAST_WHAT 16
#define MOST_WHAT 200

static void summary_put_end(FILE *f, const struct summary *s, bool is_running)
{
	char wall[FORMAT_BYTES], end[RUN_END_BYTES];

	if (is_running) {
		fprintf(f, "running, %s so far", format_seconds(wall, s->wall_ns));
		return;
	}
	if (s->is_attached)
		fputs("attached", f);
	else if (!s->has_status)
		fputs("the command's end was not seen", f);
	else
		fprintf(f, "the command %s", format_run_end(end, s));
	if (s->wall_ns || s->samples || summary_is_from_collector(s))
		fprintf(f, " %s %s", s->is_attached ? "for" : "after",
			format_seconds(wall, s->wall_ns));
}

static const char *summary_head_style(const struct summary *s, bool is_running)
{
	if (is_running)
		return STYLED_RUNNING;
	return !s->is_attached && s->has_status && (s->signal || s->exit_code) ? STYLED_ALARM : "";
}

/*
 * Writes the first line. How the run ended precedes the command, so that a long command does not
 * push it out.
 */
static void summary_put_head(FILE *f, const struct summary *s, const struct summary_view *v,
			     size_t width)
{
	const char *style = summary_head_style(s, v->is_running);
	size_t room = MOST_WHAT, length;
	char *text = NULL;
	FILE *end = memory_open_memstream(&text, &length);

	if (!end)
		return;
	fputs(style, f);
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
	fputs(*style ? STYLED_END "\n" : "\n", f);
}

static void summary_put_oom(FILE *f, const struct summary *s)
{
	const struct oom_kill *k = &s->oom;
	char a[FORMAT_BYTES];

	if (!s->oom_kills)
		return;
	fputs("  " STYLED_ALARM "OOM-killed" STYLED_END "  ", f);
	if (s->oom_kills > 1)
		fprintf(f, "%s processes, one of them ", format_count(a, s->oom_kills));
	format_name(f, k->comm, NAME_COLUMNS);
	fprintf(f, " (%d)", k->pid);
	if (k->has_rss)
		fprintf(f, ", %s resident", format_bytes(a, k->rss_bytes));
	if (k->limit_bytes) {
		fprintf(f, "; limit %s of cgroup ", format_bytes(a, k->limit_bytes));
		format_name(f, k->cgroup, NAME_COLUMNS);
		fputc('\n', f);
	} else {
		fputs("; the whole machine was out of memory\n", f);
	}
}

static void summary_put_slowdown(FILE *f, const struct answer *a)
{
	if (!a || a->slowdown.kind == SLOWDOWN_NONE)
		return;
	fputs("  " STYLED_RUNNING, f);
	slowdown_text(f, &a->slowdown);
	fputs(STYLED_END "\n", f);
}

static void summary_put_limit(FILE *f, const struct summary *s)
{
	if (!s->limit.text[0])
		return;
	fputs(s->limit.is_end ? "  " STYLED_ALARM "ENDED" STYLED_END "       beyond "
			      : "  limit       beyond ",
	      f);
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
	fprintf(f, "  processes   %s", format_count(a, s->processes_total));
	if (s->total.value[M_threads_created])
		fprintf(f, ", %s more thread%s", format_count(b, s->total.value[M_threads_created]),
			s->total.value[M_threads_created] == 1 ? "" : "s");
	fprintf(f, ", %s exec%s", format_count(c, s->total.value[M_execs]),
		s->total.value[M_execs] == 1 ? "" : "s");
	if (s->outlived)
		fprintf(f, s->is_attached ? "; %s still alive" : "; %s outlived the command",
			format_count(a, s->outlived));
	if (s->by_cgroup && (s->entered || s->left))
		fprintf(f, "; %s moved in, %s moved out", format_count(a, s->entered),
			format_count(b, s->left));
	fputc('\n', f);
}

static void summary_put_spans(FILE *f, const struct summary *s, const struct summary_view *v)
{
	const struct longest_span *spans = v->spans;
	char a[FORMAT_BYTES];

	if (!spans || !spans->nr)
		return;
	fprintf(f, "  spans       %s, %s", format_count(a, spans->nr),
		spans->nr == 1 ? "" : "the longest ");
	format_beginning(f, *spans->name ? spans->name : "(no name)", NAME_COLUMNS);
	fprintf(f, " of %s", format_seconds(a, spans->wall_ns));
	if (s->kept_as) {
		fprintf(f, ": bpfmon show %" PRId64 " --by span", s->kept_as);
	} else if (v->run) {
		fputs(": bpfmon show ", f);
		format_name(f, v->run, SIZE_MAX);
		fputs(" --by span", f);
	}
	fputc('\n', f);
}

static const char *summary_format_cost(char *buffer, const struct role_cost *cost)
{
	return cost->rss_bytes ? format_bytes(buffer, cost->rss_bytes) : "-";
}

static void summary_put_bounds(FILE *f, const struct summary *s)
{
	const char *first = s->is_attached ? "totals since the attach"
			    : metric_has(&s->bounds.counters, M_cpu)
				    ? "totals (a process ignored SIGCHLD)"
			    : metric_has(&s->bounds.counters, M_rchar) ? "what calls moved"
								       : "";
	const bool totals_are_exact = !s->is_attached && !metric_has(&s->bounds.counters, M_cpu);

	fputs("  from /proc, without BPF (see bpfmon check): ", f);
	fputs(totals_are_exact ? "totals are exact; " : "", f);
	fputs(first, f);
	if (s->bounds.has_all_processes)
		fputs(*first ? " and peaks" : "peaks", f);
	else
		fputs(*first ? ", peaks and the number of processes"
			     : "peaks and the number of processes",
		      f);
	fputs(" are lower bounds", f);
}

/* Writes what was lost. Names of losses may come from a file and are untrusted. */
static void summary_put_completeness(FILE *f, const struct summary *s)
{
	char text[LOSS_TEXT_BYTES], count[FORMAT_BYTES];

	if (s->complete && s->bounds.is_from_proc) {
		summary_put_bounds(f, s);
		return;
	}
	if (s->complete) {
		fputs("  complete: nothing was lost", f);
		return;
	}
	fputs("  " STYLED_ALARM "INCOMPLETE:" STYLED_END, f);
	if (s->reason[0]) {
		fputc(' ', f);
		format_name(f, s->reason, sizeof(s->reason));
		fputs(s->nr_losses ? ";" : "", f);
	}
	fputs(s->nr_losses ? " lost" : "", f);
	for (size_t i = 0; i < s->nr_losses; i++) {
		loss_format(text, &s->losses[i], format_count(count, s->losses[i].count));
		fputs(i ? ", " : " ", f);
		format_name(f, text, sizeof(text));
	}
}

static void summary_put_cost(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES], d[FORMAT_BYTES];

	if (s->is_of_agent) {
		fputs("  bpfmon      the agent of this node has followed the run\n", f);
		return;
	}
	fprintf(f, "  bpfmon      %s CPU; memory: collector %s, recorder %s, kernel %s\n",
		format_seconds(a, s->collector.cpu_ns + s->recorder.cpu_ns),
		summary_format_cost(b, &s->collector), summary_format_cost(c, &s->recorder),
		format_bytes(d, s->map_bytes));
}

/* Writes OOM kills and losses, above the values they affect. */
static void summary_put_trouble(FILE *f, const struct summary *s)
{
	summary_put_oom(f, s);
	if (s->complete)
		return;
	summary_put_completeness(f, s);
	fputc('\n', f);
}

/* Late ticks lose no totals: the next sample has what happened meanwhile. */
static void summary_put_missing(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (s->late_ticks)
		fprintf(f, "  samples     %s of %s are missing: bpfmon did not get a CPU in time\n",
			format_count(a, s->late_ticks),
			format_count(b, s->samples + s->late_ticks));
}

static void summary_put_saved(FILE *f, const struct summary *s)
{
	if (s->not_kept[0]) {
		fputs("  " STYLED_ALARM "NOT SAVED" STYLED_END "   in the store: ", f);
		format_name(f, s->not_kept, sizeof(s->not_kept));
		fputc('\n', f);
	} else if (s->kept_as) {
		fprintf(f, "  saved       as run %" PRId64 ": bpfmon show %" PRId64 "\n",
			s->kept_as, s->kept_as);
	}
}

static void summary_put_foot(FILE *f, const struct summary *s, const struct summary_view *v)
{
	if (s->nr_programs || (s->total.nr_instances && !v->is_without_instances))
		fputc('\n', f);
	if (s->complete) {
		summary_put_completeness(f, s);
		fputc('\n', f);
	}
	summary_put_missing(f, s);
	if (s->is_attached && !s->by_cgroup && !v->is_of_job)
		fputs("  note        descendants whose parent had ended before are not found\n", f);
	if (summary_is_from_collector(s))
		summary_put_cost(f, s);
	summary_put_saved(f, s);
}

static void summary_put_facts(FILE *f, const struct summary *s, const struct summary_view *v,
			      size_t width)
{
	struct answer own;
	const struct answer *a = v->answer ? v->answer : &own;

	if (!v->answer)
		answer_of_run(&own, s, NULL, NULL, NULL);
	summary_put_head(f, s, v, width);
	summary_put_slowdown(f, a);
	if (v->is_running)
		summary_put_oom(f, s);
	else
		summary_put_trouble(f, s);
	gpus_idle_text(f, s);
	summary_put_limit(f, s);
	answer_text(f, a);
	time_text(f, &s->total, width);
	summary_put_cpu(f, s);
	memory_text(f, s, v->has_bounds);
	summary_put_io(f, s);
	network_text(f, s);
	hardware_text(f, s);
	summary_put_processes(f, s);
	pushed_text(f, s);
	summary_put_spans(f, s, v);
}

/* Writes CPU, I/O and processes in one line. */
static void summary_put_main_figures(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];
	const char *separator = "  used        ";

	if (summary_has_total(s, M_cpu)) {
		fprintf(f, "%s%s CPU", separator, format_seconds(a, s->total.value[M_cpu]));
		separator = ", ";
	}
	if (summary_has_total(s, M_read) && summary_has_total(s, M_write)) {
		fprintf(f, "%s%s read, %s%s written", separator,
			format_bytes(a, s->total.value[M_read]),
			summary_write_is_bound(s) ? "up to " : "",
			format_bytes(b, s->total.value[M_write]));
		separator = ", ";
	}
	fprintf(f, "%s%s%s process%s", separator,
		s->bounds.is_from_proc && !s->bounds.has_all_processes ? "at least " : "",
		format_count(a, s->processes_total), s->processes_total == 1 ? "" : "es");
	main_program_text(f, s);
	fputc('\n', f);
}

static void summary_put_short(FILE *f, const struct summary *s, const struct summary_view *v,
			      size_t width)
{
	summary_put_head(f, s, v, width);
	summary_put_slowdown(f, v->answer);
	summary_put_trouble(f, s);
	gpus_idle_text(f, s);
	summary_put_limit(f, s);
	if (v->answer)
		answer_text(f, v->answer);
	summary_put_main_figures(f, s);
	summary_put_spans(f, s, v);
	if (s->bounds.is_from_proc && s->complete) {
		summary_put_completeness(f, s);
		fputc('\n', f);
	}
	summary_put_saved(f, s);
}

static void summary_put_all(FILE *f, const struct summary *s, const struct summary_view *v,
			    size_t width)
{
	if (v->is_short) {
		summary_put_short(f, s, v, width);
		return;
	}
	summary_put_facts(f, s, v, width);
	programs_text(f, s, width);
	if (!v->is_without_instances)
		instances_text(f, s, width);
	if (!v->is_without_instances && v->has_bounds)
		latencies_text(f, s);
	if (!v->is_running)
		summary_put_foot(f, s, v);
}

typedef void summary_part_fn(FILE *f, const struct summary *s, const struct summary_view *v,
			     size_t width);

/* Returns what @write wrote. The caller frees it. NULL without memory. */
static char *summary_part_text(summary_part_fn *write, const struct summary *s,
			       const struct summary_view *v, size_t width)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	write(f, s, v, width);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	if (!v->has_styles)
		format_drop_styles(text);
	return text;
}

static const struct summary_view plain_view;

char *summary_text(const struct summary *s, const struct summary_view *v, size_t width)
{
	char *whole = summary_part_text(summary_put_all, s, v ? v : &plain_view, width);
	char *text = NULL;
	size_t length;
	FILE *f;

	if (!whole || !width)
		return whole;
	f = memory_open_memstream(&text, &length);
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

#define HEADING_COLUMNS 80
#define FACT_COLUMNS 200
#define PROGRAM_COLUMNS 100
#define PROGRAMS_SHOWN 10

static void meta_write_heading(FILE *f, const json_t *meta)
{
	const char *name = json_string_value(json_object_get(meta, "name"));

	if (name)
		fputs(name, f);
	else
		tree_print_words(f, json_object_get(meta, "command"));
}

static void meta_write_facts(FILE *f, const json_t *meta)
{
	meta_text(f, meta, FACT_COLUMNS);
}

void meta_markdown(FILE *f, const json_t *meta)
{
	__cleanup(freep) char *heading = meta_format(meta, meta_write_heading);
	__cleanup(freep) char *facts = meta_format(meta, meta_write_facts);

	if (!heading || !facts)
		return;
	fputs("### ", f);
	markdown_code(f, *heading ? heading : "bpfmon", HEADING_COLUMNS, false);
	fputc('\n', f);
	markdown_facts(f, facts);
}

/* Writes "-" for a value that was not read. */
static void program_put_cells(FILE *f, const struct program *p)
{
	char a[FORMAT_BYTES];
	bool has_cpu = metric_has(&p->have, M_cpu), has_read = metric_has(&p->have, M_read),
	     has_written = metric_has(&p->have, M_write);

	fprintf(f, " | %s", format_count(a, p->processes));
	fprintf(f, " | %s", has_cpu ? format_seconds(a, p->value[M_cpu]) : "-");
	fprintf(f, " | %s", p->has_rss_peak ? format_bytes(a, p->rss_peak_bytes) : "-");
	fprintf(f, " | %s", has_read ? format_bytes(a, p->value[M_read]) : "-");
	fprintf(f, " | %s |\n", has_written ? format_bytes(a, p->value[M_write]) : "-");
}

static void programs_markdown(FILE *f, const struct summary *s)
{
	static const char *const titles[] = { "program",  "processes", "CPU",
					      "peak RSS", "read",      "written" };
	size_t shown = s->nr_programs < PROGRAMS_SHOWN ? s->nr_programs : PROGRAMS_SHOWN;

	markdown_head(f, titles, sizeof(titles) / sizeof(*titles));
	for (size_t i = 0; i < shown; i++) {
		const struct program *p = &s->programs[i];

		fputs("| ", f);
		markdown_code(f, p->exe ? p->exe : "(unknown)", PROGRAM_COLUMNS, true);
		program_put_cells(f, p);
	}
	if (shown < s->nr_programs)
		fprintf(f, "\nand %zu programs more\n", s->nr_programs - shown);
}

/* Writes instances and latencies as an indented code block, which no name can end. */
static void instances_markdown(FILE *f, const struct summary *s)
{
	__cleanup(freep) char *text = NULL;
	size_t length;
	FILE *lines = memory_open_memstream(&text, &length);

	if (!lines)
		return;
	instances_text(lines, s, 0);
	latencies_text(lines, s);
	if (fclose(lines))
		return;
	for (const char *at = text, *end; *at; at = end + 1) {
		end = strchrnul(at, '\n');
		fprintf(f, end > at ? "    %.*s\n" : "%.*s\n", (int)(end - at), at);
		if (!*end)
			break;
	}
}

/* Writes the facts, and also the foot if no table of programs follows. */
static void summary_put_lines(FILE *f, const struct summary *s, const struct summary_view *v,
			      size_t width)
{
	summary_put_facts(f, s, v, width);
	if (!s->nr_programs && !v->is_running)
		summary_put_foot(f, s, v);
}

static void summary_put_last(FILE *f, const struct summary *s, const struct summary_view *v,
			     size_t width)
{
	(void)width;
	if (s->nr_programs && !v->is_running)
		summary_put_foot(f, s, v);
}

void summary_markdown(FILE *f, const struct summary *s, const struct summary_view *view)
{
	struct summary_view v = view ? *view : plain_view;
	__cleanup(freep) char *lines = NULL, *last = NULL;

	v.is_without_instances = true;
	v.has_styles = false;
	lines = summary_part_text(summary_put_lines, s, &v, 0);
	last = summary_part_text(summary_put_last, s, &v, 0);
	if (!lines || !last)
		return;
	markdown_facts(f, lines);
	if (s->nr_programs)
		programs_markdown(f, s);
	markdown_facts(f, last);
	instances_markdown(f, s);
}
