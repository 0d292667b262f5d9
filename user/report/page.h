/* SPDX-License-Identifier: BSD-2-Clause */
/* The report as one self-contained page: style, scripts and data are embedded. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/json.h"

#include <stdio.h>

/*
 * Writes the page that shows @data. Nothing in @data can close its element or be executed: each "<"
 * is escaped, and the page's policy admits only scripts with a nonce drawn for this page. -EIO.
 */
int page_write(FILE *f, const struct jsonw *data);
/* The same for several runs in the same charts; @data is that of overlay_write(). */
int page_write_overlay(FILE *f, const struct jsonw *data);

#endif
