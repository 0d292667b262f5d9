/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that a report shows: all or, of very many, those with the most CPU time, the
 * largest memory peak or the longest life.
 */
#ifndef PAGE_PROCESSES_H
#define PAGE_PROCESSES_H

#include "base/json.h"
#include "run/process.h"

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
/*
 * Writes "processes":{"total":...,"exes":[...],"fields":[...],"rows":[[...]]}, with times in
 * seconds since @start_ns. A row has the index of its path in "exes". All texts together are cut to
 * @text_bytes of the page. Returns 0 or -ENOMEM.
 */
int processes_write(struct report_processes *all, uint64_t start_ns, size_t text_bytes,
		    struct jsonw *j);

#endif
