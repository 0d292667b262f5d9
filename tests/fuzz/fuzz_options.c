// SPDX-License-Identifier: BSD-2-Clause
/*
 * A whole command line, one word a line; words before the first empty one are variables of the
 * environment. It is only parsed: nothing is executed, and no file is opened.
 */
#include "fuzz.h"

#include "base/log.h"
#include "cmd/filter.h"
#include "cmd/options.h"

#include <errno.h>
#include <stdarg.h>

#define WORDS 64

static const enum option_scope scopes[] = { FOR_RUN,   FOR_ATTACH, FOR_LIST,    FOR_SHOW,
					    FOR_STORE, FOR_EXPORT, FOR_COMPARE, FOR_REPORT };

/* Replaces base/log.c: an error has to be reported in one line. */
static unsigned errors_logged;

static void errors_count(const char *format, va_list args)
{
	char *line;

	FUZZ_HOLDS(vasprintf(&line, format, args) > 0);
	free(line);
	errors_logged++;
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	errors_count(format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	(void)format;
}

void log_info(const char *format, ...)
{
	(void)format;
}

void log_set_level(enum log_level level)
{
	(void)level;
}

static size_t words_split(char *text, char **words)
{
	size_t nr = 0;

	for (char *word; nr < WORDS && (word = strsep(&text, "\n"));)
		words[nr++] = word;
	return nr;
}

/* Sets variables of bpfmon only: others would affect the fuzzer. */
static void set_environment(char *text)
{
	char *words[WORDS];
	size_t nr = words_split(text, words);

	clearenv();
	for (size_t i = 0; i < nr; i++) {
		size_t key = strcspn(words[i], "=");

		if (!strncmp(words[i], "BPFMON_", 7) && words[i][key])
			putenv(words[i]);
	}
}

static void options_check(const struct options *o, char **argv, size_t nr)
{
	FUZZ_HOLDS(o->nr_outputs <= MAX_OUTPUTS && o->nr_tags <= MAX_TAGS);
	FUZZ_HOLDS(o->nr_pids <= MAX_TARGETS && o->nr_fail_if <= MAX_FAIL_IF);
	FUZZ_HOLDS(o->interval_ns >= 10000000 && o->interval_ns <= 604800000000000);
	for (size_t i = 0; o->command && i < o->nr_outputs; i++)
		FUZZ_HOLDS(o->outputs[i].format && *o->outputs[i].path);
	for (size_t i = 0; i < o->nr_tags && o->scope & FOR_ALL; i++)
		FUZZ_HOLDS(strchr(o->tags[i], '='));
	/* the command is the unchanged rest of the line */
	FUZZ_HOLDS(!o->command || (o->command > argv && o->command <= argv + nr));
	FUZZ_HOLDS(o->command || o->help || o->version);
	options_has_filter(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *all, *text, *environment = NULL, *blank, *words[WORDS + 2] = { "bpfmon" };
	struct options o;
	size_t nr;
	int err;

	if (!size)
		return 0;
	all = text = fuzz_text(data + 1, size - 1);
	blank = strstr(text, "\n\n");
	if (blank) {
		blank[1] = '\0';
		environment = text;
		text = blank + 2;
	}
	nr = words_split(text, words + 1);
	words[nr + 1] = NULL;
	set_environment(environment);
	errors_logged = 0;
	err = options_parse(&o, scopes[data[0] % (sizeof(scopes) / sizeof(*scopes))], (int)nr + 1,
			    words);
	FUZZ_HOLDS(err ? err == -EINVAL && errors_logged == 1 : !errors_logged);
	if (!err)
		options_check(&o, words, nr + 1);
	clearenv();
	free(all);
	return 0;
}
