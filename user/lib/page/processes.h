/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that a report shows: all or, of very many, those with the most CPU time, the
 * largest peak of memory or the longest life.
 */
#ifndef PAGE_PROCESSES_H
#define PAGE_PROCESSES_H

#include "base/json.h"
#include "run/process.h"

#define PROCESSES_SHOWN 10500 /* no more; a third of them by each of these three */

struct report_process {
	struct process p; /* its own strings are gone */
	char *exe, *args; /* owned, cut; NULL: not known, or left out */
};

struct report_processes {
	struct report_process *list; /* owned */
	size_t nr, room;
	uint64_t total;    /* including those that are not shown */
	bool is_pruned;    /* then a process above none of @least is not kept */
	uint64_t least[3]; /* what the last one kept has, of each of the three */
};

/*
 * Copies @p, its arguments as one text; of long arguments the beginning is kept, of a long path the
 * end. -ENOMEM.
 */
int processes_add(struct report_processes *all, const struct process *p);
/* Adds the metrics that are shown of each process to @set. */
void processes_add_metrics(struct metric_set *set);
void processes_done(struct report_processes *all);
/* The process with the largest high-water mark of its own; NULL if none has one. */
const struct report_process *processes_find_largest(const struct report_processes *all);
/* Whether a timeline of processes is shown: of one process the table says all. */
bool processes_have_timeline(const struct report_processes *all);
/*
 * "processes":{"total":...,"exes":[...],"fields":[...],"rows":[[...]]}, times in seconds since
 * @start_ns; a row has the index of its path in "exes". All texts together take up to @text_bytes
 * of the page: long ones are cut. -ENOMEM.
 */
int processes_write(struct report_processes *all, uint64_t start_ns, size_t text_bytes,
		    struct jsonw *j);

#endif
