/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tiles of a report say of a run: in the words, and by the rules, of a terminal's summary.
 */
#ifndef REPORT_ANSWER_H
#define REPORT_ANSWER_H

#include "report/run.h"

/*
 * Writes "answer":{"request":TEXT,"limit":TEXT,"used":TEXT,"phase":TEXT,"busy":...}: the limit that
 * it has gone beyond, and as the last one the share of the cores that it might use; what is not
 * known is absent. A run that goes on may still grow, so it has no request. Without memory @j is
 * marked as failed.
 */
void report_answer_write(struct report_run *r, struct jsonw *j);

#endif
