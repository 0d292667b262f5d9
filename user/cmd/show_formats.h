/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon show in other formats than text. Each prints to stdout; 0 or -ENOMEM. */
#ifndef CMD_SHOW_FORMATS_H
#define CMD_SHOW_FORMATS_H

#include "base/json.h"
#include "view/summary_text.h"

#include <jansson.h>

/* The lines of kind meta and summary as one object, with the @state of the run, as lists have it,
 * and the members @more, unless that is NULL. */
int run_show_json(const json_t *meta, const struct summary *total, const char *state,
		  const struct jsonw *more);
int run_show_markdown(const json_t *meta, const struct summary *total,
		      const struct summary_view *view);
/* What the template, which was checked, makes of the run. */
int run_show_template(const char *template, const json_t *meta, const struct summary *total);

#endif
