/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that were read, written once more. */
#ifndef RUN_REWRITER_H
#define RUN_REWRITER_H

#include "base/json.h"
#include "run/reader.h"

/*
 * Writes @l, with its newline: what bpfmon wrote, byte by byte. Where the line has no tree it is
 * made of what the model knows of a sample, process or span; of other kinds nothing is written
 * then.
 */
void rewrite_line(struct jsonw *j, const struct line *l);

#endif
