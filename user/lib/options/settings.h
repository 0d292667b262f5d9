/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of options: KEY = VALUE, where KEY is the long name of an option. Before any section it
 * acts like the option's variable; in [list] it sets an option of `bpfmon list`.
 */
#ifndef OPTIONS_SETTINGS_H
#define OPTIONS_SETTINGS_H

#include "options/option.h"
#include "config/user_files.h"

struct setting {
	char *section; /* owned, as are key and value; empty: before any section */
	char *key, *value;
	enum option_guard guard; /* the highest of all options with that key */
	unsigned line;
};

struct settings {
	char path[USER_FILE_PATH_BYTES];
	bool is_project; /* may only set options that cannot end, hide or burden a run */
	struct setting *list;
	size_t nr;
};

/*
 * Parses @text, which was read from s->path, and checks each key and value. Returns 0, or a
 * negative errno with "FILE:LINE: " and the reason in @why, without a full stop.
 */
int settings_parse(struct settings *s, const char *text, size_t length, char *why, size_t size);
void settings_done(struct settings *s);

/* Returns true if files may set options of this subcommand: it has options with variables. */
bool settings_are_for(const struct subcommand *sub);
/* Returns the name of the subcommand's section. */
const char *settings_section(const struct subcommand *sub);
/* Returns why the setting is ignored ("ignored under sudo: ..."), or NULL if it is applied. */
const char *setting_refusal(const struct settings *s, const struct setting *x);

/* Returns the settings of both files, read once; NULL, after one line to the user, on error. */
const struct settings *settings_load(void);
/* Finds the file and line of an option's value by its pointer. Returns false if no file set it. */
bool settings_origin(const char *value, const char **path, unsigned *line);
/*
 * Applies @files to the struct @options of @sub, except for options whose variable is set. The
 * options point into @files. Returns 0, or -EINVAL after one line to the user.
 */
int settings_apply(const struct settings files[NR_USER_FILES], const struct subcommand *sub,
		   void *options);

/*
 * Applies both files, except for options whose variable is set. Returns 0, or -EINVAL after one
 * line to the user.
 */
int options_from_files(const struct subcommand *sub, void *options);

#endif
