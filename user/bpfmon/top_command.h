/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of bpfmon-top, as bpfmon top makes it. */
#ifndef BPFMON_TOP_COMMAND_H
#define BPFMON_TOP_COMMAND_H

#include <stddef.h>

#define TOP_WORDS 160

struct top_command {
	const char *words[TOP_WORDS + 1];
	size_t nr;
};

/* @word is in use until it is executed. What is above TOP_WORDS is left out. */
void top_command_add(struct top_command *c, const char *word);
/* Becomes bpfmon-top. Returns only if it cannot: after one line to the user, the exit status. */
int top_command_execute(struct top_command *c);

#endif
