/* SPDX-License-Identifier: BSD-2-Clause */
/* A message that a span begins or ends, or that the lines of the run are wanted: of unknown origin.
 */
#ifndef RUN_SPAN_MESSAGE_H
#define RUN_SPAN_MESSAGE_H

#include "run/span.h"

#include <sys/types.h>

struct span_message {
	bool is_live; /* lines are wanted: the next one, and nothing else */
	bool wants_processes;
	bool is_end, in_place, has_status;
	int status; /* of the command that has ended, as wait(2) gives it */
	pid_t pid;  /* of which the span is; 0: the sender */
	struct span_label label;
	char *text; /* owned: what the label points into */
};

/* -EBADMSG, -ENOMEM: @why then says what is wrong, in a sentence without a full stop. */
int span_message_read(struct span_message *m, const char *text, size_t length, char *why,
		      size_t size);
void span_message_done(struct span_message *m);

#endif
