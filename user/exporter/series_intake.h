/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the lines of the agent's stream into a board. */
#ifndef EXPORTER_SERIES_INTAKE_H
#define EXPORTER_SERIES_INTAKE_H

#include "exporter/board.h"
#include "run/reader.h"

struct intake {
	struct board *board; /* not owned */
	struct line line;    /* owned */
};

/* Takes one line of @length bytes, which is parsed without the lock of the board. A line that
 * cannot be understood is counted. */
void intake_take(struct intake *in, const char *text, size_t length, uint64_t now_ns);
/* A line was too long to be read. */
void intake_refuse(struct intake *in);
void intake_done(struct intake *in);

#endif
