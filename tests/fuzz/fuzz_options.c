// SPDX-License-Identifier: BSD-2-Clause
/*
 * A whole command line, one word a line; words before the first empty one are variables of the
 * environment. It is only parsed: nothing is executed, and no file is opened.
 */
#include "fuzz.h"

#include "base/log.h"
#include "bpfmon/cmd_compare.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdarg.h>

#define WORDS 64

static const struct subcommand *const parsers[] = {
	&subcommand_run,     &subcommand_attach, &subcommand_list,
	&subcommand_show,    &subcommand_store,  &subcommand_export,
	&subcommand_compare, &subcommand_report, &subcommand_advise,
};

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

void log_note(const char *format, ...)
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

void log_limit_waits(void)
{
}

bool log_has_unreported_failure(void)
{
	return false;
}

static size_t words_split(char *text, char **words)
{
	size_t nr = 0;

	for (char *word; nr < WORDS && (word = strsep(&text, "\n"));)
		words[nr++] = word;
	return nr;
}

/* Only our own: others would be the fuzzer's. */
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
	setenv("BPFMON_NO_CONFIG", "1", 1); /* no file is opened */
}

static void check_recording(const struct recording_options *r, const struct common_options *common)
{
	FUZZ_HOLDS(r->nr_outputs <= MAX_OUTPUTS && r->tags.nr <= MAX_TAGS);
	FUZZ_HOLDS(r->interval_ns >= 10000000 && r->interval_ns <= 604800000000000);
	for (size_t i = 0; common->words && i < r->nr_outputs; i++)
		FUZZ_HOLDS(r->outputs[i].format && *r->outputs[i].path);
	for (size_t i = 0; i < r->tags.nr; i++)
		FUZZ_HOLDS(strchr(r->tags.list[i], '='));
}

static void check(const struct subcommand *sub, const void *options, char **argv, size_t nr)
{
	const struct common_options *common = options;
	const struct compare_options *compare = options;
	const struct attach_options *attach = options;
	const struct run_options *run = options;

	if (sub == &subcommand_run)
		check_recording(&run->recording, common);
	if (sub == &subcommand_attach) {
		check_recording(&attach->recording, common);
		FUZZ_HOLDS(attach->nr_pids <= MAX_TARGETS);
	}
	if (sub == &subcommand_compare) {
		FUZZ_HOLDS(compare->fail_if.nr <= MAX_FAIL_IF);
		FUZZ_HOLDS(compare->filter.filter.nr_tags <= MAX_TAGS);
		filter_is_given(&compare->filter);
	}
	/* the rest of the line, as it is */
	FUZZ_HOLDS(!common->words || (common->words > argv && common->words <= argv + nr));
	FUZZ_HOLDS(common->words || common->help || common->version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *all, *text, *environment = NULL, *blank, *words[WORDS + 2] = { "bpfmon" };
	const struct subcommand *sub;
	void *options;
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
	sub = parsers[data[0] % (sizeof(parsers) / sizeof(*parsers))];
	options =
		malloc(sub->options_bytes); /* as large as it is: what lies behind it is watched */
	err = sub->parse(options, (int)nr + 1, words);
	FUZZ_HOLDS(err ? err == -EINVAL && errors_logged == 1 : !errors_logged);
	if (!err)
		check(sub, options, words, nr + 1);
	clearenv();
	free(options);
	free(all);
	return 0;
}
