/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes lines that were read, unchanged or with an edited description. */
#ifndef RUN_REWRITER_H
#define RUN_REWRITER_H

#include "base/json.h"
#include "run/reader.h"
#include "run/run.h"

#include <jansson.h>

/*
 * Writes @l and its newline exactly as bpfmon wrote it. A line without a tree is written from its
 * struct if it is a sample, process or span; one of another kind is not written.
 */
void rewrite_line(struct jsonw *j, const struct line *l);

/* Edits the meta line of a recorded run: name, note or tags. */

/* Changes to make; a member that is NULL is left unchanged. */
struct meta_changes {
	const char *name, *note; /* "": remove it */
	const char *const *tags; /* KEY=VALUE replaces a tag with that key; KEY= removes it */
	size_t nr_tags;
	uint64_t edited_epoch_ns; /* time of the edit; 0: not written */
};

/*
 * Writes the line @text of @length bytes with the changes into the empty @j. Everything else in the
 * line stays byte for byte, apart from blanks between members. Returns 0, -EBADMSG if it is no JSON
 * object, -EILSEQ if a change is not UTF-8, -E2BIG if there would be more than MAX_TAGS, or
 * -ENOMEM. *@meta is the new line as a tree, which the caller frees, even after an error.
 */
int meta_edit(struct jsonw *j, const char *text, size_t length, const struct meta_changes *c,
	      json_t **meta);
/*
 * Writes the line with name, note, tags and time of the last edit of @from, a copy of the run's
 * meta line. Returns what meta_edit() does; -EBADMSG also for wrong types in @from.
 */
int meta_copy_edits(struct jsonw *j, const char *text, size_t length, const json_t *from,
		    json_t **meta);

#endif
