/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that were read, written once more. */
#ifndef WIRE_REWRITER_H
#define WIRE_REWRITER_H

#include "base/json.h"
#include "wire/reader.h"

/*
 * Writes @l, with its newline: what bpfmon wrote, byte by byte. Where the line has no tree it is
 * made of what the model knows of a sample, process or span; of other kinds nothing is written
 * then.
 */
void rewrite_line(struct jsonw *j, const struct line *l);

#endif
