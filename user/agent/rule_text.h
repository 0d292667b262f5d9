/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids and names of jobs, from names of cgroups, which users may have chosen. */
#ifndef AGENT_RULE_TEXT_H
#define AGENT_RULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct rule_text {
	char *text; /* ends with a NUL */
	size_t room, used;
	bool is_cut; /* something did not fit, and is not in it */
};

/* Appends @n bytes of our own. */
void rule_text_put(struct rule_text *t, const char *s, size_t n);
/* Appends @n bytes of a path; \xHH for those that are no text or could steer a terminal. A
 * @is_uuid is written as Kubernetes does: with - where the path has _. */
void rule_text_put_part(struct rule_text *t, const char *s, size_t n, bool is_uuid);
/* Copies @id as people want to read it: systemd's \x2d is -, of 64 digits the first 12 stay. Cut,
 * at a whole character, where it does not fit. */
void rule_text_name(char *out, size_t room, const char *id);

#endif
