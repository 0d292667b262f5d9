/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a report as one self-contained page, with styles, scripts and data embedded. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/json.h"

#include <stdio.h>

#define PAGE_NONCE_BYTES 33 /* with the NUL */

/* Optional parts of a page. Styles, scripts and sections of absent parts are omitted. */
enum page_part {
	PAGE_PHASES = 1 << 0,
	PAGE_EVENTS = 1 << 1,
	PAGE_HELD = 1 << 2,
	PAGE_PUSHED = 1 << 3,
	PAGE_SPANS = 1 << 4,
	PAGE_HOLDERS = 1 << 5,
	PAGE_TIMELINE = 1 << 6,
	PAGE_INSTANCES = 1 << 7,
	PAGE_TIMES = 1 << 8,
	PAGE_GPUS = 1 << 9,
};

/* What a page shows. The writer of the data sets the parts that the data need. */
struct page_data {
	struct jsonw json;
	unsigned parts; /* bits of enum page_part */
};

struct page_text {
	const char *start, *end;
};

/* What a server adds to a page, which may then fetch from that server. */
struct page_served {
	const char *nonce; /* from page_make_nonce(); also in the server's header */
	struct page_text style, script;
};

/*
 * Writes the page that shows @data. Data cannot close its element or be executed: each "<" is
 * escaped, and the policy of the page admits only scripts with a random nonce. Returns 0 or -EIO.
 */
int page_write(FILE *f, const struct page_data *data);
/* Like page_write(), for several runs in the same charts. @data comes from overlay_write(). */
int page_write_overlay(FILE *f, const struct jsonw *data);

/* Makes a new nonce. Returns 0, or -EIO without randomness. */
int page_make_nonce(char nonce[PAGE_NONCE_BYTES]);
/*
 * Writes the page of page_write() for a server, whose script precedes the scripts that build the
 * page.
 */
int page_write_served(FILE *f, const struct page_data *data, const struct page_served *s);
/*
 * Writes a page of the server's own from @body, with its script and base.js, which needs all keys
 * of the data of a run.
 */
int page_write_own(FILE *f, const char *title, struct page_text body, const struct jsonw *data,
		   const struct page_served *s);

/*
 * Writes a page of many runs, without scripts. @body ends in an open footer. @title may be any
 * text. Returns 0 or -EIO.
 */
int page_write_many(FILE *f, const char *title, struct page_text body);

#endif
