/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of pulse.h. */
#ifndef WEB_PULSE_PARTS_H
#define WEB_PULSE_PARTS_H

#include "web/pulse.h"

/* Reads what is new of the run; of the thread, without the lock. */
void pulse_run_poll(struct pulse *p, struct pulse_run *r);
/* The same of a job of the node, of what has come since the last look. -ENOMEM. */
int pulse_node_look(struct pulse *p, struct pulse_run *r, bool *has_ended);
/* Makes the text of a sample. -ENOMEM. */
int pulse_run_add(struct pulse *p, struct pulse_run *r, const struct sample *s);
void pulse_run_done(struct pulse_run *r);
/* A user of it less; may be NULL. */
void pulse_text_drop(struct pulse_text *t);

#endif
