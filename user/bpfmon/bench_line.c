// SPDX-License-Identifier: BSD-2-Clause
/* Options of bpfmon bench that take several words, as in -L threads 1,2,4. */
#include "base/memory.h"
#include "bpfmon/cmd_bench.h"

#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many words the option takes; 0: it is none of these. */
static int words_taken(const char *word)
{
	if (!strcmp(word, "-L") || !strcmp(word, "--parameter-list"))
		return 2;
	if (!strcmp(word, "-P") || !strcmp(word, "--parameter-scan"))
		return 3;
	return 0;
}

/* Whether the next word is the option's value, whatever it looks like. */
static bool word_takes_value(const char *word)
{
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(&subcommand_bench, i, &group)); i++) {
		bool is_long = !strncmp(word, "--", 2) && !strcmp(word + 2, row->name);
		bool is_short = row->key && word[0] == '-' && word[1] == row->key && !word[2];

		if (is_long || is_short)
			return row->argument && !row->argument_is_optional;
	}
	return false;
}

static char *words_put_together(char **words, int nr)
{
	char *text = NULL;
	size_t room;
	FILE *f = memory_open_memstream(&text, &room);

	for (int i = 0; f && i < nr; i++)
		fprintf(f, "%s%s", i ? " " : "", words[i]);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Copies the option at @at, and what belongs to it; returns behind that, or -ENOMEM. */
static int bench_line_take(struct bench_line *l, int argc, char **argv, int at)
{
	int nr = words_taken(argv[at]);

	l->argv[l->argc++] = argv[at++];
	if (nr && at < argc && strchr(argv[at], ' ')) /* quoted, as one word */
		nr = 0;
	if (!nr || at + nr > argc) {
		if (at < argc && word_takes_value(argv[at - 1]))
			l->argv[l->argc++] = argv[at++];
		return at;
	}
	l->joined[l->nr_joined] = words_put_together(argv + at, nr);
	if (!l->joined[l->nr_joined])
		return -ENOMEM;
	l->argv[l->argc++] = l->joined[l->nr_joined++];
	return at + nr;
}

int bench_line_read(struct bench_line *l, int argc, char **argv)
{
	int at = 0;

	*l = (struct bench_line){ .argv = memory_calloc((size_t)argc + 1, sizeof(*argv)),
				  .joined = memory_calloc((size_t)argc + 1, sizeof(*argv)) };
	if (!l->argv || !l->joined)
		return -ENOMEM;
	while (at >= 0 && at < argc && !l->command) {
		if (!strcmp(argv[at], "--"))
			l->command = argv + at + 1;
		else
			at = bench_line_take(l, argc, argv, at);
	}
	return at < 0 ? at : 0;
}

void bench_line_done(struct bench_line *l)
{
	for (size_t i = 0; i < l->nr_joined; i++)
		free(l->joined[i]);
	free(l->joined);
	free(l->argv);
	*l = (struct bench_line){ 0 };
}
