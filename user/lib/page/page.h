/* SPDX-License-Identifier: BSD-2-Clause */
/* The report as one self-contained page: style, scripts and data are embedded. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/json.h"

#include <stdio.h>

#define PAGE_NONCE_BYTES 33 /* with the NUL */

/* The parts that a page may have. It has styles, scripts and sections of no other part. */
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
};

/* What a page shows. The writer of the data sets the parts that the data are for. */
struct page_data {
	struct jsonw json;
	unsigned parts; /* bits of enum page_part */
};

struct page_text {
	const char *start, *end;
};

/* What a server adds to a page, which may then fetch from that server. */
struct page_served {
	const char *nonce; /* of page_make_nonce(): the server's header names it, too */
	struct page_text style, script;
};

/*
 * Writes the page that shows @data, with the scripts that it needs. Nothing in @data can close its
 * element or be executed: each "<" is escaped, and the page's policy admits only scripts with a
 * nonce drawn for this page. -EIO.
 */
int page_write(FILE *f, const struct page_data *data);
/* The same for several runs in the same charts; @data is that of overlay_write(). */
int page_write_overlay(FILE *f, const struct jsonw *data);

/* A new nonce. -EIO: there is no randomness. */
int page_make_nonce(char nonce[PAGE_NONCE_BYTES]);
/* The page of page_write(), served; its script comes before the one that puts the page together. */
int page_write_served(FILE *f, const struct page_data *data, const struct page_served *s);
/* A page of the server's own: @body, and its script after base.js, which needs all keys of a
 * run's data. */
int page_write_own(FILE *f, const char *title, struct page_text body, const struct jsonw *data,
		   const struct page_served *s);

/*
 * A page of many runs, without scripts: @body, which ends in an open footer. @title: any text.
 * -EIO.
 */
int page_write_many(FILE *f, const char *title, struct page_text body);

#endif
