/* SPDX-License-Identifier: BSD-2-Clause */
/* The data of a run that a report shows, read from the lines of any source. */
#ifndef PAGE_PAGE_RUN_H
#define PAGE_PAGE_RUN_H

#include "run/phase.h"
#include "run/stall_state.h"
#include "page/charts.h"
#include "page/held.h"
#include "page/page.h"
#include "page/series.h"
#include "page/page_spans.h"
#include "store/source.h"
#include "text/answer.h"
#include "base/json.h"
#include "run/process.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The processes that a report shows: all or, of very many, those with the most CPU time, the
 * largest memory peak or the longest life.
 */

#define PROCESSES_SHOWN 10500 /* maximum; one third for each of these three */

struct report_process {
	struct process p; /* @p.exe and @p.args are dangling: use the copies */
	char *exe, *args; /* owned, cut; NULL if unknown or omitted */
};

struct report_processes {
	struct report_process *list; /* owned */
	size_t nr, room;
	uint64_t total;    /* including those that are not shown */
	bool is_pruned;    /* processes above none of @least are dropped */
	uint64_t least[3]; /* the lowest kept value of each of the three */
};

/*
 * Copies @p, with its arguments as one text. Long arguments lose their end, a long path its
 * beginning. Returns 0 or -ENOMEM.
 */
int processes_add(struct report_processes *all, const struct process *p);
void processes_add_metrics(struct metric_set *set);
void processes_done(struct report_processes *all);
/* Returns the process with the largest high-water mark of its own, or NULL if none has one. */
const struct report_process *processes_find_largest(const struct report_processes *all);
/* Returns true if the timeline is shown: it needs more than one process. */
bool processes_have_timeline(const struct report_processes *all);
/* Returns true if a process of the page has used a GPU. */
bool processes_use_gpus(const struct report_processes *all);
/*
 * Writes "processes":{"total":...,"exes":[...],"fields":[...],"rows":[[...]]}, with times in
 * seconds since @start_ns. A row has the index of its path in "exes". All texts together are cut to
 * @text_bytes of the page. Returns 0 or -ENOMEM.
 */
int processes_write(struct report_processes *all, uint64_t start_ns, size_t text_bytes,
		    struct jsonw *j);

/*
 * Samples that are missing because the collector did not get a CPU in time: the events
 * "late_ticks", as one strip and one sentence.
 */

/* Times are in seconds since the start of the run. */
struct missing_part {
	double from, to;
	uint64_t samples;
};

struct report_missing {
	struct missing_part *list; /* owned; in time order */
	size_t nr;
	uint64_t samples; /* of all parts */
};

void missing_done(struct report_missing *m);
/*
 * Adds an event, if it is about missing samples (*@is_taken). @interval is that of samples, in
 * seconds. Returns 0 or -ENOMEM.
 */
int missing_add(struct report_missing *m, const json_t *event, double interval, bool *is_taken);
/*
 * Writes "missing":{"text":...,"samples":...,"share":...,"from":[...],"to":[...],"counts":[...]},
 * or nothing if none is missing. @there are the samples of the run, @wall is its seconds.
 */
void missing_write(const struct report_missing *m, uint64_t there, double wall, struct jsonw *j);

struct report_run {
	json_t *meta, *summary; /* a missing summary is computed from the other lines */
	json_t *events;         /* array */
	json_t *event_counts;   /* object: name -> number, including events not in @events */
	size_t event_bytes;     /* size of @events */
	struct report_charts charts;
	struct report_missing missing; /* not in @events */
	struct report_held held;
	struct report_processes processes;
	struct report_spans spans;
	struct report_series pushed;
	struct phases phases;     /* from mark to mark */
	struct phase_times times; /* of the same phases, for the answer */
	struct stall_state stall; /* from the latest event */
	struct stalls stalls;     /* all of them, for the answer */
	uint64_t start_epoch_ns;
	uint64_t samples, unreadable; /* number of samples, and of lines that belong to no run */
	bool is_cut;                  /* the lines end before the run did */
	bool is_running;              /* the run in the store has not ended */
};

/* Returns 0 or -ENOMEM. The caller calls report_close() in any case. */
int report_open(struct report_run *r);
void report_close(struct report_run *r);
/*
 * Reads all of @s. Returns 0, -ENODATA if the run has no samples, -ENOMEM, or an error of
 * source_each().
 */
int report_read(struct report_run *r, struct source *s);
/* Reads the summary into @total, which summary_done() frees, and sets the answer of the run. */
void report_answer(struct answer *a, struct report_run *r, struct summary *total);
/*
 * Writes the run as one JSON object, and sets the parts that the page needs. @name is the run or
 * file as the user wrote it. Returns 0 or -ENOMEM.
 */
int report_write_data(struct report_run *r, const char *name, struct page_data *d);

/*
 * Writes {"charts":...} as charts_write() does, of the samples later than @from_ns after the start,
 * up to @to_ns. Returns 0, -ENOMEM, or an error of source_each().
 */
int page_window_write(struct source *s, uint64_t from_ns, uint64_t to_ns, struct jsonw *j);

#endif
