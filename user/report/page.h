/* SPDX-License-Identifier: BSD-2-Clause */
/* The report as one page that needs nothing else: style, scripts and data are in it. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/json.h"

#include <stdio.h>

/*
 * Writes the page that shows @data. Nothing in @data can end its element or run: no "<" is left of
 * it, and the page's policy lets only scripts run that know a number made up here.
 */
int page_write(FILE *f, const struct json *data);
/* The same for several runs in the same charts; @data is that of overlay_write(). */
int page_write_overlay(FILE *f, const struct json *data);

#endif
