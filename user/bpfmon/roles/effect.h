/* SPDX-License-Identifier: BSD-2-Clause */
/* Warns about options that were given but yield nothing on this machine. */
#ifndef ROLES_EFFECT_H
#define ROLES_EFFECT_H

#include <jansson.h>
#include <stddef.h>

#define MAX_ASKED 4

/* Options that select metrics, as given on the command line. */
struct asked_options {
	struct asked_option {
		const char *name;   /* as given, such as "--net-peers" */
		const char *source; /* option of the source of its metrics, such as "--net" */
	} list[MAX_ASKED];
	size_t nr;
};

/* Adds an option with room for at most MAX_ASKED. */
void asked_add(struct asked_options *asked, const char *name, const char *source);
/*
 * Warns about each option of which the meta line of the run, @meta, says that no metric is
 * available, with the reason.
 */
void asked_check(const struct asked_options *asked, const json_t *meta);

#endif
