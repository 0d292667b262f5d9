/* SPDX-License-Identifier: BSD-2-Clause */
/* What is compared: runs, and what other tools have measured, each as a set of values. */
#ifndef STUDY_SIDE_H
#define STUDY_SIDE_H

#include "store/source.h"
#include "study/key.h"

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

/* The meta line of a run, made flat so that it can be compared. */

/*
 * Adds all of the object @from to the flat object @to, names joined by points, values as texts. A
 * list is one text, its elements apart by blanks. -ENOMEM.
 */
int facts_add(json_t *to, const json_t *from);

/* What the makers of sides have in common. */

/* A new side at the end, nothing of it known; NULL without memory. */
struct side *sides_append(struct sides *all, const char *name);
/* Takes back the last one. */
void sides_drop(struct sides *all);
/* Sets the value of a key that is there. */
void side_set(struct side *s, const char *key, double value);
/* Sets the values that the line of a summary or a span has. */
void side_take_values(struct side *s, const json_t *summary);
/* Adds the values of @one to those of @s: sums, of peaks and statuses the largest. */
void side_add_values(struct side *s, const struct side *one);
/* What follows from the values that are there. */
void side_derive(struct side *s);
/* Reads the text of a peer's file into @s; errors of sides_add_peer(). */
int peer_read(struct side *s, const char *text, size_t length);

#endif
