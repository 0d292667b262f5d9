/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns and the order that the user chose last, kept between sessions in a small file. */
#ifndef TOP_SAVED_H
#define TOP_SAVED_H

#include "top/top_column.h"

#include <stdbool.h>
#include <stdint.h>

struct saved {
	uint32_t columns[2]; /* bits, [1] for the processes of a whole node */
	enum column_id sort;
	bool is_reversed, is_flat;
};

void saved_init(struct saved *s);
bool saved_is(const struct saved *a, const struct saved *b);
/* Applies the lines of @text. Unknown lines and columns are ignored. */
void saved_parse(struct saved *s, char *text);
/*
 * Reads bpfmon/top in XDG_CONFIG_HOME or ~/.config. A missing file, or a folder of another user,
 * changes nothing; the same holds with BPFMON_NO_CONFIG.
 */
void saved_read(struct saved *s);
/* Replaces that file. Failures are ignored: nothing else depends on it. */
void saved_write(const struct saved *s);

#endif
