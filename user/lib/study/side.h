/* SPDX-License-Identifier: BSD-2-Clause */
/* The sides of a comparison: runs and files of other tools, each as a set of values. */
#ifndef STUDY_SIDE_H
#define STUDY_SIDE_H

#include "store/source.h"
#include "run/key.h"

#include <jansson.h>

struct side {
	char *name;            /* owned; the user's word or a path */
	char *title;           /* owned; name or command, tags and start of the run; may be NULL */
	const char *format;    /* the tool that measured it: "bpfmon", "prmon", "GNU time" */
	bool is_run;           /* of bpfmon; only then: */
	bool complete;         /* nothing was lost */
	bool is_folded;        /* computed from its lines, because it has no summary */
	json_t *facts;         /* owned; its meta line, flattened: "system.cpus" -> "8" */
	double value[NR_KEYS]; /* in the unit of the key; NAN: absent */
};

struct sides {
	struct side *list; /* owned */
	size_t nr, room;
};

void sides_done(struct sides *all);
/*
 * Adds the run of @src under @name; @src may then be closed. Errors as source_each(), and -ENOMEM.
 */
int sides_add_run(struct sides *all, const char *name, struct source *src);
/*
 * Adds the file @path of another tool. Returns -EBADMSG for an unknown format, -EMLINK for several
 * results, or another negative errno.
 */
int sides_add_peer(struct sides *all, const char *path);
/* Returns the value of the tag @tag, valid as long as the side; NULL if it has none. */
const char *side_tag(const struct side *s, const char *tag);

/*
 * Flattens the object @from into @to: names are joined by dots, values become strings, and elements
 * of lists are joined by blanks. Returns 0 or -ENOMEM.
 */
int facts_add(json_t *to, const json_t *from);

/* Appends a side without values. Returns NULL without memory. */
struct side *sides_append(struct sides *all, const char *name);
void sides_drop(struct sides *all);
/* Sets the value of @key, if there is such a key. */
void side_set(struct side *s, const char *key, double value);
/* Sets the values that a summary or span line has. */
void side_take_values(struct side *s, const json_t *summary);
/* Adds the values of @one to @s: sums, except the maximum of peaks and statuses. */
void side_add_values(struct side *s, const struct side *one);
/* Sets values that follow from others. */
void side_derive(struct side *s);
/* Parses the file of another tool into @s. Errors as sides_add_peer(). */
int peer_read(struct side *s, const char *text, size_t length);

#endif
