/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client wants to know of the history of its node: which runs there are, or the lines of one
 * of them. The answer are lines, and at its end one of kind "history". Whose runs these may be is
 * not in it: the agent has that from the kernel.
 */
#ifndef RUN_HISTORY_QUERY_H
#define RUN_HISTORY_QUERY_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_END "{\"kind\":\"history\"" /* so begins the last line of an answer */

/* As struct run_filter (store/query.h) has them: empty and 0 is whatever it is. */
struct history_query {
	bool lines; /* those of the run @id; else an object for each run */
	uint64_t id;
	char uuid[40];
	char name[130], exact_name[130], job[260], user[66], host[130], command[130], span[130];
	uint32_t state;
	uint64_t since_ns;
};

/* Appends it as an object. */
void history_query_write(struct jsonw *j, const struct history_query *q);
/* -EBADMSG, and @why is a sentence without a full stop; -ENOMEM. */
int history_query_read(struct history_query *q, const char *text, size_t length, char *why,
		       size_t size);

#endif
