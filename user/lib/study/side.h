/* SPDX-License-Identifier: BSD-2-Clause */
/* What is compared: runs, and what other tools have measured, each as a set of values. */
#ifndef STUDY_SIDE_H
#define STUDY_SIDE_H

#include "study/key.h"
#include "store/source.h"

#include <jansson.h>

struct side {
	char *name;            /* owned; as it was named, or a path */
	char *title;           /* owned; what the run was: name or command, tags, start; or NULL */
	const char *format;    /* the tool that measured it: "bpfmon", "prmon", "GNU time" */
	bool is_run;           /* of bpfmon; then: */
	bool complete;         /* nothing was lost */
	bool is_folded;        /* it has no summary: made up of what there is */
	json_t *facts;         /* owned; its own description, flat: "system.cpus" -> "8" */
	double value[NR_KEYS]; /* in the unit of the key; NAN: absent */
};

struct sides {
	struct side *list; /* owned */
	size_t nr, room;
};

void sides_done(struct sides *all);
/*
 * Adds the run that @src gives, under @name; @src may be closed then. Errors of source_each(), and
 * -ENOMEM.
 */
int sides_add_run(struct sides *all, const char *name, struct source *src);
/* Adds the file @path of another tool. -EBADMSG: of none that is known, -EMLINK: several blocks. */
int sides_add_peer(struct sides *all, const char *path);
/* The value of the tag @tag, in use as long as the side; NULL: it has none. */
const char *side_tag(const struct side *s, const char *tag);

#endif
