// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/common_options.h"

#include "base/log.h"
#include "cmd/option_values.h"

#include <errno.h>

/* Naming a store asks for one: it undoes a --no-store before it. */
static int store_parse(void *value, const char *text)
{
	struct store_options *o = value;

	o->is_off = false;
	return text_parse(&o->path, text);
}

/* clang-format off */
const struct option_row common_rows[] = {
	{ "help", 'h', NULL, false, "Show this help", flag_parse, offsetof(struct common_options, help), GUARD_NONE },
	{ "version", 'V', NULL, false, "Show the version", flag_parse, offsetof(struct common_options, version), GUARD_NONE },
	{ 0 }
};

const struct option_row store_rows[] = {
	{ "store", 0, "PATH", false, "The store is this file, not that of the user and host", store_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row force_rows[] = {
	{ "force", 0, NULL, false, "Replace output files that exist", flag_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

int words_check_none(const struct common_options *o)
{
	if (!o->words || !*o->words)
		return 0;
	return options_refuse("there is a word too many,", *o->words);
}

int words_check_run(const struct common_options *o)
{
	if (!o->words)
		return 0;
	if (*o->words)
		return o->words[1] ? options_refuse("there is a word too many,", o->words[1]) : 0;
	log_error("no run was named; name a number of bpfmon list, or a file");
	return -EINVAL;
}
