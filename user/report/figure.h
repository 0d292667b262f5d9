/* SPDX-License-Identifier: BSD-2-Clause */
/* The charts of a run as one SVG, for a paper or a wiki. */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include "report/run.h"

#include <stdio.h>

/* Writes the charts of @r. 0 or -ENOMEM; the caller looks at ferror(@f). */
int figure_write(FILE *f, const struct report_run *r);

#endif
