/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that were read, written once more. */
#ifndef RUN_REWRITER_H
#define RUN_REWRITER_H

#include "base/json.h"
#include "run/reader.h"
#include "run/run.h"

#include <jansson.h>

/*
 * Writes @l, with its newline: what bpfmon wrote, byte by byte. Where the line has no tree it is
 * made of what the model knows of a sample, process or span; of other kinds nothing is written
 * then.
 */
void rewrite_line(struct jsonw *j, const struct line *l);

/* The meta line of a run that was recorded, with another name, note or tags. */

/* What is to change; NULL: that stays as it is. */
struct meta_changes {
	const char *name, *note; /* "": it is removed */
	const char *const
		*tags; /* KEY=VALUE takes the place of one with that key; KEY= removes it */
	size_t nr_tags;
	uint64_t edited_epoch_ns; /* when; 0: the line does not say it */
};

/*
 * Writes the line @text of @length bytes into the empty @j with the changes; all else in it stays
 * byte by byte, but for blanks between members. 0; -EBADMSG: it is no JSON object; -EILSEQ: a
 * change is not UTF-8; -E2BIG: there would be more than MAX_TAGS; -ENOMEM. *@meta is the new line
 * as a tree, the caller's, also after an error.
 */
int meta_edit(struct jsonw *j, const char *text, size_t length, const struct meta_changes *c,
	      json_t **meta);
/*
 * The same with name, note, tags and the time of the last edit as @from has them, the meta line of
 * the same run in another place. -EBADMSG also: one of them is of another kind there.
 */
int meta_take_words(struct jsonw *j, const char *text, size_t length, const json_t *from,
		    json_t **meta);

#endif
