// SPDX-License-Identifier: BSD-2-Clause
/* The files that stand for options: read once, applied before variables and command line. */
#include "bpfmon/options.h"

#include "bpfmon/settings.h"

#include "base/log.h"
#include "bpfmon/prepare.h"
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_FILES "BPFMON_NO_CONFIG"

static bool files_are_off(void)
{
	const char *text = getenv(NO_FILES);

	return text && *text && strcmp(text, "0") != 0;
}

static int settings_take(struct settings *s, const struct user_file *file)
{
	char why[CONFIG_WHY_BYTES];
	int err;

	memcpy(s->path, file->path, sizeof(s->path));
	if (*file->why) {
		log_warn("'%s' is not read: %s", file->path, file->why);
		*s->path = '\0';
		return 0;
	}
	err = settings_parse(s, file->text, file->length, why, sizeof(why));
	if (err)
		log_error("%s", why);
	return err;
}

static struct settings both[NR_USER_FILES]; /* options point into it */

const struct settings *settings_load(void)
{
	static struct user_file files[NR_USER_FILES];
	static struct user caller;
	static bool is_loaded;
	bool was_sudo;
	int err;

	if (is_loaded || files_are_off())
		return both;
	user_find_caller(&caller, &was_sudo);
	err = user_files_read(files, &caller, user_home(&caller, false), was_sudo);
	if (err)
		log_warn("no file of options is read: %s", strerror(-err));
	err = 0;
	for (int i = 0; !err && i < NR_USER_FILES; i++) {
		both[i].is_project = i == FILE_OF_PROJECT;
		err = settings_take(&both[i], &files[i]);
	}
	user_files_done(files);
	is_loaded = !err;
	return err ? NULL : both;
}

bool settings_origin(const char *value, const char **path, unsigned *line)
{
	for (size_t i = 0; i < NR_USER_FILES; i++)
		for (size_t k = 0; k < both[i].nr; k++)
			if (both[i].list[k].value == value) {
				*path = both[i].path;
				*line = both[i].list[k].line;
				return true;
			}
	return false;
}

static bool setting_is_for(const struct setting *x, const struct subcommand *sub,
			   const struct option_group *group, const struct option_row *row)
{
	if (strcmp(x->key, row->name) != 0)
		return false;
	return *x->section ? !strcmp(x->section, settings_section(sub)) : group->has_variables;
}

static bool is_switch(const struct option_row *row)
{
	return !row->argument || row->argument_is_optional;
}

/* A name for messages, as "/home/ada/.config/bpfmon/config:3: interval". */
static void setting_name(char *name, size_t size, const struct settings *s, const struct setting *x)
{
	snprintf(name, size, "%s:%u: %s", s->path, x->line, x->key);
}

static void setting_refuse(const struct settings *s, const struct setting *x)
{
	char name[USER_FILE_PATH_BYTES + 100];

	setting_name(name, sizeof(name), s, x);
	log_warn("%s is %s; %s --%s on the command line%s", name, setting_refusal(s, x),
		 s->is_project ? "if you want it, use ~/.config/bpfmon/config or" : "whether",
		 x->key, s->is_project ? "" : " is permitted, sudo decides");
}

static int setting_apply(const struct settings *s, const struct setting *x, void *options,
			 const struct option_group *group, const struct option_row *row)
{
	char name[USER_FILE_PATH_BYTES + 100];

	setting_name(name, sizeof(name), s, x);
	return option_apply(options, group, row, setting_argument(row, x->value), name);
}

/*
 * What the files say for one option, what is in a section after what is not. Of one that is on or
 * off only the last word counts; others are set again, or more than once.
 */
static int option_from_files(const struct settings *files, const struct subcommand *sub,
			     void *options, const struct option_group *group,
			     const struct option_row *row)
{
	const struct settings *last_in = NULL, *refused_in = NULL;
	const struct setting *last = NULL, *refused = NULL;
	int err = 0;

	for (int i = 0; i < 2 * NR_USER_FILES; i++) {
		const struct settings *s = &files[i / 2];

		for (size_t k = 0; !err && k < s->nr; k++) {
			const struct setting *x = &s->list[k];

			if ((*x->section != '\0') != i % 2 || !setting_is_for(x, sub, group, row))
				continue;
			if (setting_refusal(s, x)) {
				refused_in = s;
				refused = x;
				continue;
			}
			last = x;
			last_in = s;
			if (!is_switch(row))
				err = setting_apply(s, x, options, group, row);
		}
	}
	if (refused) /* once, however often it is in the file */
		setting_refuse(refused_in, refused);
	if (!last || !is_switch(row) || setting_is_no(row, last->value))
		return err;
	return setting_apply(last_in, last, options, group, row);
}

int settings_apply(const struct settings files[NR_USER_FILES], const struct subcommand *sub,
		   void *options)
{
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(sub, i, &group)); i++) {
		if (!setting_is_possible(group, row) ||
		    (group->has_variables && option_has_variable(row)))
			continue;
		if (option_from_files(files, sub, options, group, row))
			return -EINVAL;
	}
	return 0;
}

int options_from_files(const struct subcommand *sub, void *options)
{
	const struct settings *files;

	if (!settings_are_for(sub))
		return 0;
	files = settings_load();
	return files ? settings_apply(files, sub, options) : -EINVAL;
}
