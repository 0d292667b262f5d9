/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of options: KEY = VALUE, where KEY is the long name of an option. Before any section it
 * stands for what the option's variable does, in [list] for an option of `bpfmon list`.
 */
#ifndef OPTIONS_SETTINGS_H
#define OPTIONS_SETTINGS_H

#include "options/option.h"
#include "config/user_files.h"

struct setting {
	char *section; /* owned; empty: before any section */
	char *key, *value;
	enum option_guard guard; /* of several options the highest */
	unsigned line;
};

struct settings {
	char path[USER_FILE_PATH_BYTES];
	bool is_project; /* sets only what can neither end, hide nor burden a run */
	struct setting *list;
	size_t nr;
};

/*
 * Parses @text, which was read from s->path, and checks each key and value. 0; or a negative errno,
 * and @why is one sentence without a full stop that begins with "FILE:LINE: ".
 */
int settings_parse(struct settings *s, const char *text, size_t length, char *why, size_t size);
void settings_done(struct settings *s);

/* Whether the files may set options of this subcommand: a variable stands for one of them. */
bool settings_are_for(const struct subcommand *sub);
/* The name of the subcommand's section. */
const char *settings_section(const struct subcommand *sub);
/* Why the setting does not count, as in "ignored under sudo: ..."; NULL: it does. */
const char *setting_refusal(const struct settings *s, const struct setting *x);

/*
 * The settings of the user's file and of the project's, read once. NULL: they are wrong, or cannot
 * be read, after one line to the user.
 */
const struct settings *settings_load(void);
/* The file and line that set the option to @value, that very pointer. False: no file did. */
bool settings_origin(const char *value, const char **path, unsigned *line);
/*
 * Sets the options of @sub in its struct @options that @files set, which must live as long, but for
 * those whose variable is set. -EINVAL after one line to the user.
 */
int settings_apply(const struct settings files[NR_USER_FILES], const struct subcommand *sub,
		   void *options);

/*
 * Apply what the user's file and the project's say, but for options whose variable is set. -EINVAL
 * after one line to the user.
 */
int options_from_files(const struct subcommand *sub, void *options);

#endif
