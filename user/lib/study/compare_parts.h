/* SPDX-License-Identifier: BSD-2-Clause */
/* What the makers of sides have in common. */
#ifndef STUDY_COMPARE_PARTS_H
#define STUDY_COMPARE_PARTS_H

#include "study/side.h"

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
