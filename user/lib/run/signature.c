// SPDX-License-Identifier: BSD-2-Clause
#include "run/signature.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_CPU 1e6 /* ns; with less CPU time, rates would be those of start-up */
#define SHAPE_POINTS 8
#define PAGE_BYTES 4096. /* for rates: the same on all machines */

const struct signature_dimension_info *signature_dimension(enum signature_dimension d)
{
	static const struct signature_dimension_info infos[] = {
#define SIGNATURE_DIMENSION(key, least, weight, text) { #key, text, least / 1e3, weight / 1e3 },
#include "run/signature.def"
	};

	return &infos[d];
}

static void signature_put(struct signature *g, enum signature_dimension d, double value)
{
	if (!isfinite(value) || fabs(value) > INT32_MAX / 1e4)
		return;
	g->milli[d] = (int32_t)lround(value * 1e3);
	g->has[d] = true;
}

static bool signature_total(const struct summary *s, enum metric_id id, double *value)
{
	*value = (double)s->total.value[id];
	return sample_has(&s->total, id);
}

/* Sets rates per second of CPU time, which do not depend on input size or waiting. */
static void signature_put_rates(struct signature *g, const struct summary *s, double cpu_seconds)
{
	static const struct {
		enum metric_id of;
		enum signature_dimension to;
	} rates[] = {
		{ M_minflt, SIGNATURE_minflt }, { M_majflt, SIGNATURE_majflt },
		{ M_nvcsw, SIGNATURE_nvcsw },   { M_rchar, SIGNATURE_rchar },
		{ M_wchar, SIGNATURE_wchar },   { M_read, SIGNATURE_read },
		{ M_write, SIGNATURE_write },   { M_syscr, SIGNATURE_syscr },
		{ M_syscw, SIGNATURE_syscw },
	};
	double value;

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (signature_total(s, rates[i].of, &value))
			signature_put(g, rates[i].to, log2(1 + value / cpu_seconds));
	if (s->processes_total)
		signature_put(g, SIGNATURE_processes,
			      log2((double)s->processes_total / cpu_seconds));
}

static void signature_put_cpu(struct signature *g, const struct summary *s)
{
	double cpu, user, waited = 0, lifetime, busy;

	if (!signature_total(s, M_cpu, &cpu))
		return;
	if (cpu > 0 && signature_total(s, M_user, &user))
		signature_put(g, SIGNATURE_user_share, fmin(user / cpu, 1));
	if (signature_total(s, M_runqueue_wait, &waited) &&
	    signature_total(s, M_lifetime, &lifetime)) {
		busy = cpu + waited;
		signature_put(g, SIGNATURE_blocked_share, 1 - busy / fmax(fmax(lifetime, busy), 1));
	}
	/* what else the machine runs changes how much of the time the run gets, not how much it
	 * asks for */
	if (s->wall_ns)
		signature_put(g, SIGNATURE_cores,
			      log2(fmax((cpu + waited) / (double)s->wall_ns, 1 / 1024.)));
	signature_put_rates(g, s, fmax(cpu, SHORTEST_CPU) / 1e9);
}

static void signature_put_io(struct signature *g, const struct summary *s)
{
	double read, written, reads, writes;
	bool has_read = signature_total(s, M_rchar, &read),
	     has_written = signature_total(s, M_wchar, &written);

	if (has_read && signature_total(s, M_syscr, &reads) && reads > 0)
		signature_put(g, SIGNATURE_read_size, log2(1 + read / reads));
	if (has_written && signature_total(s, M_syscw, &writes) && writes > 0)
		signature_put(g, SIGNATURE_write_size, log2(1 + written / writes));
	if (has_read && has_written)
		signature_put(g, SIGNATURE_write_to_read, log2((1 + written) / (1 + read)));
}

static void signature_put_processes(struct signature *g, const struct summary *s)
{
	double n = (double)s->processes_total, value;

	if (!s->processes_total)
		return;
	if (signature_total(s, M_execs, &value))
		signature_put(g, SIGNATURE_execs, value / n);
	if (signature_total(s, M_threads_created, &value))
		signature_put(g, SIGNATURE_threads, log2(1 + value / n));
}

static void signature_put_memory(struct signature *g, const struct summary *s,
				 const struct memory_shape *m)
{
	double peak = s->has_rss_peak ? (double)s->rss_peak_bytes : 0, faults;
	double largest = (double)m->largest_bytes;

	if (peak > 0 && signature_total(s, M_minflt, &faults))
		signature_put(g, SIGNATURE_memory_reuse, log2((1 + faults) * PAGE_BYTES / peak));
	if (peak > 0 && s->has_process_rss_peak)
		signature_put(g, SIGNATURE_memory_of_one, (double)s->process_rss_peak_bytes / peak);
	if (largest > 0 && m->has_anon)
		signature_put(g, SIGNATURE_memory_anon, (double)m->anon_bytes / largest);
	if (m->nr < 2 || largest <= 0 || !s->wall_ns)
		return;
	for (int i = 0; i < SHAPE_POINTS; i++)
		signature_put(g, SIGNATURE_memory_1 + i,
			      memory_shape_at(m, (i + 0.5) / SHAPE_POINTS * (double)s->wall_ns) /
				      largest);
}

/* Usage of a program by its truncated base name; files with the same name are merged. */
struct used_program {
	char name[SIGNATURE_NAME_BYTES];
	double weight;
};

static int used_order_name(const void *a, const void *b)
{
	return strcmp(((const struct used_program *)a)->name,
		      ((const struct used_program *)b)->name);
}

static int used_order_weight(const void *x, const void *y)
{
	const struct used_program *a = x, *b = y;

	return a->weight != b->weight ? (a->weight < b->weight) - (a->weight > b->weight)
				      : strcmp(a->name, b->name);
}

/* Copies the base name, truncated at a character boundary. */
static void program_name_copy(char name[SIGNATURE_NAME_BYTES], const char *exe)
{
	const char *slash = strrchr(exe, '/');

	if (slash)
		exe = slash + 1;
	memset(name, 0, SIGNATURE_NAME_BYTES);
	memcpy(name, exe, text_cut_bytes(exe, SIGNATURE_NAME_BYTES - 1));
}

/* Collects the named programs without duplicates, heaviest first. */
static size_t programs_gather(const struct summary *s, struct used_program *used)
{
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < s->nr_programs; i++) {
		const struct program *p = &s->programs[i];

		if (!p->exe)
			continue;
		program_name_copy(used[nr].name, p->exe);
		if (!used[nr].name[0])
			continue;
		/* a process without measured time counts as well */
		used[nr++].weight = (double)p->value[M_cpu] + (double)p->processes;
	}
	if (nr)
		qsort(used, nr, sizeof(*used), used_order_name);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !strcmp(used[kept - 1].name, used[i].name))
			used[kept - 1].weight += used[i].weight;
		else
			used[kept++] = used[i];
	}
	if (kept)
		qsort(used, kept, sizeof(*used), used_order_weight);
	return kept;
}

static void signature_put_programs(struct signature *g, const struct used_program *used, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += used[i].weight;
	if (sum <= 0)
		return;
	signature_put(g, SIGNATURE_program_share, used[0].weight / sum);
	signature_put(g, SIGNATURE_programs_used, log2((double)nr));
	for (size_t i = 0; i < nr && i < SIGNATURE_PROGRAMS; i++) {
		struct signature_program *p = &g->program[g->nr_programs];

		p->milli = (int32_t)lround(1e3 * used[i].weight / sum);
		if (!p->milli)
			break;
		memcpy(p->name, used[i].name, sizeof(p->name));
		g->nr_programs++;
	}
}

int signature_make(struct signature *g, const struct summary *s, const struct memory_shape *m)
{
	struct used_program *used = memory_calloc(s->nr_programs + 1, sizeof(*used));

	*g = (struct signature){ 0 };
	if (!used)
		return -ENOMEM;
	signature_put_cpu(g, s);
	signature_put_io(g, s);
	signature_put_processes(g, s);
	signature_put_memory(g, s, m);
	signature_put_programs(g, used, programs_gather(s, used));
	free(used);
	return 0;
}

void signature_format_programs(const struct signature *g, char text[SIGNATURE_TEXT_BYTES])
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < g->nr_programs; i++)
		used += (size_t)snprintf(text + used, SIGNATURE_TEXT_BYTES - used, "%s%d %s",
					 i ? "/" : "", g->program[i].milli, g->program[i].name);
}

void signature_parse_programs(struct signature *g, const char *text)
{
	g->nr_programs = 0;
	while (text && *text && g->nr_programs < SIGNATURE_PROGRAMS) {
		struct signature_program *p = &g->program[g->nr_programs];
		char *end;
		long share = strtol(text, &end, 10);
		size_t length = *end == ' ' ? strcspn(end + 1, "/") : 0;

		if (share < 1 || share > 1000 || !length)
			return;
		*p = (struct signature_program){ .milli = (int32_t)share };
		memcpy(p->name, end + 1,
		       length < SIGNATURE_NAME_BYTES ? length : SIGNATURE_NAME_BYTES - 1);
		text = end + 1 + length;
		text += *text == '/';
		g->nr_programs++;
	}
}

/* Merges pairs of points: the larger memory, at the later time. */
static void memory_shape_halve(struct memory_shape *m)
{
	for (size_t i = 0; i < m->nr / 2; i++) {
		struct memory_point a = m->point[2 * i], b = m->point[2 * i + 1];

		m->point[i] = b;
		if (a.rss_bytes > b.rss_bytes)
			m->point[i].rss_bytes = a.rss_bytes;
	}
	m->nr /= 2;
	m->every *= 2;
	m->in_last = m->every; /* the next sample begins a point */
}

void memory_shape_add(struct memory_shape *m, const struct sample *smp)
{
	uint64_t rss = smp->value[M_rss];
	struct memory_point *last;

	if (!sample_has(smp, M_rss))
		return;
	if (rss >= m->largest_bytes) {
		m->largest_bytes = rss;
		m->has_anon = sample_has(smp, M_rss_anon);
		m->anon_bytes = m->has_anon ? smp->value[M_rss_anon] : 0;
	}
	if (!m->every)
		m->every = m->in_last = 1;
	if (m->in_last == m->every && m->nr == MEMORY_SHAPE_POINTS)
		memory_shape_halve(m);
	if (m->in_last == m->every) {
		m->point[m->nr++] = (struct memory_point){ smp->elapsed_ns, rss };
		m->in_last = 1;
		return;
	}
	last = &m->point[m->nr - 1];
	last->at_ns = smp->elapsed_ns;
	if (rss > last->rss_bytes)
		last->rss_bytes = rss;
	m->in_last++;
}

double memory_shape_at(const struct memory_shape *m, double at_ns)
{
	const struct memory_point *a, *b;
	size_t i = 0;

	while (i + 1 < m->nr && (double)m->point[i].at_ns < at_ns)
		i++;
	b = &m->point[i];
	a = i ? b - 1 : b;
	if (at_ns >= (double)b->at_ns || a->at_ns >= b->at_ns || at_ns <= (double)a->at_ns)
		return (double)(at_ns >= (double)b->at_ns ? b : a)->rss_bytes;
	return (double)a->rss_bytes + ((double)b->rss_bytes - (double)a->rss_bytes) *
					      (at_ns - (double)a->at_ns) /
					      (double)(b->at_ns - a->at_ns);
}
