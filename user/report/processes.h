/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that a report shows: all, or of very many those that used, held or lasted most. */
#ifndef REPORT_PROCESSES_H
#define REPORT_PROCESSES_H

#include "base/json.h"
#include "model/process.h"

#define PROCESSES_SHOWN 10500 /* at most; a third of them for each of the three reasons */

struct report_process {
	struct process p; /* its strings are not to be used */
	char *exe, *args; /* owned, cut; NULL: not known, left out */
};

struct report_processes {
	struct report_process *list; /* owned */
	size_t nr, room;
	uint64_t total; /* those that are not shown included */
	bool is_pruned; /* then who is above none of these would not stay */
	uint64_t least[3];
};

/* Copies @p, its arguments as one text; of long ones the beginning, of a long path the end.
 * -ENOMEM. */
int processes_add(struct report_processes *all, const struct process *p);
/* All have been added: leaves those that are shown. -ENOMEM. */
int processes_finish(struct report_processes *all);
/* The metrics that are shown of each. */
void processes_add_metrics(struct metric_set *set);
void processes_done(struct report_processes *all);
/* The one with the largest high-water mark of its own; NULL: none has one. */
const struct report_process *processes_find_largest(const struct report_processes *all);
/*
 * "processes":{"total":...,"exes":[...],"fields":[...],"rows":[[...]]}, times in seconds since
 * @start_ns; a row has its path's place in "exes".
 */
int processes_write(struct report_processes *all, uint64_t start_ns, struct json *j);

#endif
