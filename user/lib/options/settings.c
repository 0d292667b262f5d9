// SPDX-License-Identifier: BSD-2-Clause
#include "options/settings.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/options.h"
#include "config/config.h"
#include "config/ini.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings_reading {
	struct ini in;
	struct settings *s;
	const struct subcommand *sub; /* of the section; NULL: before any section */
};

bool settings_are_for(const struct subcommand *sub)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++)
		if (g->has_variables)
			return true;
	return false;
}

/* Returns true if files may set the option in its subcommand's section. */
static bool setting_is_possible(const struct option_group *group, const struct option_row *row)
{
	return group->rows != common_rows && row->guard != GUARD_TEST;
}

const char *settings_section(const struct subcommand *sub)
{
	return sub->name ? sub->name : "run";
}

/* Returns 1 for yes, 0 for no, or -EINVAL. */
static int yes_or_no(const char *value)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], value))
			return i % 2;
	return -EINVAL;
}

/* Returns true if the value disables an option that an earlier file has set. */
static bool setting_is_off(const struct option_row *row, const char *value)
{
	if (!row->argument)
		return !yes_or_no(value);
	return row->argument_is_optional && !strcmp(value, "no");
}

/* Returns the argument for the option's parser; NULL: none. */
static const char *setting_argument(const struct option_row *row, const char *value)
{
	if (!row->argument || (row->argument_is_optional && !strcmp(value, "yes")))
		return NULL;
	return value;
}

const char *setting_refusal(const struct settings *s, const struct setting *x)
{
	if (s->is_project && x->guard > PROJECT_MAY)
		return "ignored: not allowed in a project's file";
	if (s->is_project && x->guard > PROJECT_MAY_AS_ROOT && !getuid())
		return "ignored for root: a project's file may only set names and tags then";
	if (x->guard >= GUARD_ENVIRONMENT && user_is_under_sudo())
		return "ignored under sudo: it comes from the caller";
	return NULL;
}

/* Returns the option @key of @sub; without @anywhere only one that is allowed outside sections. */
static const struct option_row *setting_row(const struct subcommand *sub, const char *key,
					    bool anywhere, const struct option_group **group)
{
	const struct option_row *row;

	if (!settings_are_for(sub))
		return NULL;
	for (size_t i = 0; (row = option_at(sub, i, group)); i++)
		if (!strcmp(row->name, key) && setting_is_possible(*group, row) &&
		    (anywhere || (*group)->has_variables))
			return row;
	return NULL;
}

/* Checks the value by parsing it into a temporary struct. */
static int setting_check(struct ini *in, const struct subcommand *sub,
			 const struct option_group *group, const struct option_row *row,
			 const char *value)
{
	const struct settings_reading *r = in->context;

	if (r->s->is_project && row->guard > PROJECT_MAY)
		return 0; /* not applied */
	if (!row->argument && yes_or_no(value) < 0)
		return ini_refuse(in, -EINVAL, "%s = %s: expected yes or no", row->name, value);
	if (setting_is_off(row, value))
		return 0;
	if (!option_takes(sub, group, row, setting_argument(row, value)))
		return ini_refuse(in, -EINVAL, "%s = %s: expected %s", row->name, value,
				  value_expectation());
	return 0;
}

/* Returns the option of @sub, of any subcommand if NULL, that @key is near to, or NULL. */
static const char *settings_guess_key(const struct subcommand *only, const char *key)
{
	const struct option_group *group;
	const struct option_row *row;
	struct nearest n;

	nearest_begin(&n, key, strlen(key));
	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		if ((only && *sub != only) || !settings_are_for(*sub))
			continue;
		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++)
			if (setting_is_possible(group, row) && (only || group->has_variables))
				nearest_offer(&n, row->name);
	}
	return n.word;
}

static int settings_refuse_key(struct ini *in, const char *key)
{
	const struct settings_reading *r = in->context;
	const struct option_group *group;

	const char *guess = settings_guess_key(r->sub, key);

	if (r->sub && guess)
		return ini_refuse(in, -EINVAL, "[%s] has no option %s; did you mean %s?",
				  settings_section(r->sub), key, guess);
	if (r->sub)
		return ini_refuse(in, -EINVAL, "[%s] has no option %s; see bpfmon %s --help",
				  settings_section(r->sub), key, r->sub->name ? r->sub->name : "");
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if (setting_row(*sub, key, true, &group))
			return ini_refuse(in, -EINVAL,
					  "%s is an option of bpfmon %s; write it below [%s]", key,
					  settings_section(*sub), settings_section(*sub));
	if (guess)
		return ini_refuse(in, -EINVAL, "unknown option %s; did you mean %s?", key, guess);
	return ini_refuse(in, -EINVAL, "unknown option %s; see bpfmon --help", key);
}

static int settings_add(struct ini *in, const char *key, const char *value, enum option_guard guard)
{
	struct settings_reading *r = in->context;
	struct setting *grown, new = {
		.section = memory_strdup(r->sub ? settings_section(r->sub) : ""),
		.key = memory_strdup(key),
		.value = memory_strdup(value),
		.line = in->line,
		.guard = guard,
	};

	grown = memory_reallocarray(r->s->list, r->s->nr + 1, sizeof(*grown));
	if (grown)
		r->s->list = grown;
	if (grown && new.section &&new.key &&new.value) {
		grown[r->s->nr++] = new;
		return 0;
	}
	free(new.section);
	free(new.key);
	free(new.value);
	return ini_refuse(in, -ENOMEM, "out of memory");
}

/* Adds a setting. Outside sections it must be valid for each subcommand that has the option. */
static int settings_key(struct ini *in, const char *key, const char *value)
{
	const struct settings_reading *r = in->context;
	const struct option_group *group;
	const struct option_row *row;
	enum option_guard guard = PROJECT_MAY_AS_ROOT;
	bool is_known = false;

	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		if (r->sub && *sub != r->sub)
			continue;
		row = setting_row(*sub, key, r->sub, &group);
		if (row && setting_check(in, *sub, group, row, value))
			return in->err;
		is_known |= row != NULL;
		if (row && row->guard > guard)
			guard = row->guard;
	}
	return is_known ? settings_add(in, key, value, guard) : settings_refuse_key(in, key);
}

static int settings_section_begin(struct ini *in, const char *name)
{
	struct settings_reading *r = in->context;

	struct nearest n;

	nearest_begin(&n, name, strlen(name));
	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		if (!settings_are_for(*sub))
			continue;
		if (!strcmp(settings_section(*sub), name)) {
			r->sub = *sub;
			return 0;
		}
		nearest_offer(&n, settings_section(*sub));
	}
	if (n.word)
		return ini_refuse(in, -EINVAL, "unknown section [%s]; did you mean [%s]?", name,
				  n.word);
	return ini_refuse(in, -EINVAL,
			  "unknown section [%s]; sections are [run] and the names of other "
			  "subcommands, as in [list]",
			  name);
}

void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->list[i].section);
		free(s->list[i].key);
		free(s->list[i].value);
	}
	free(s->list);
	s->list = NULL;
	s->nr = 0;
}

int settings_parse(struct settings *s, const char *text, size_t length, char *why, size_t size)
{
	struct settings_reading r = { .s = s };
	FILE *f;
	int err;

	*why = '\0';
	if (!length)
		return 0;
	f = memory_fmemopen((char *)text, length, "r");
	r.in = (struct ini){
		.f = f,
		.name = s->path,
		.context = &r,
		.section = settings_section_begin,
		.key = settings_key,
		.why = why,
		.size = size,
	};
	err = f ? ini_read(&r.in) : -ENOMEM;
	if (f)
		fclose(f);
	else
		snprintf(why, size, "%s: out of memory", s->path);
	if (err) {
		settings_done(s);
		text_disarm(why);
	}
	return err;
}

/* The files of options, read once and applied before variables and command line. */

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
		log_warn("ignoring '%s': %s", file->path, file->why);
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
		log_warn("cannot read the configuration files: %s", strerror(-err));
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

/* Formats a name for messages, such as "/home/ada/.config/bpfmon/config:3: interval". */
static void setting_name(char *name, size_t size, const struct settings *s, const struct setting *x)
{
	snprintf(name, size, "%s:%u: %s", s->path, x->line, x->key);
}

static void setting_refuse(const struct settings *s, const struct setting *x)
{
	char name[USER_FILE_PATH_BYTES + 100];

	setting_name(name, sizeof(name), s, x);
	log_warn("%s is %s; use %s--%s on the command line%s", name, setting_refusal(s, x),
		 s->is_project ? "~/.config/bpfmon/config or " : "", x->key,
		 s->is_project ? "" : ", if the sudoers rule allows it");
}

static int setting_apply(const struct settings *s, const struct setting *x, void *options,
			 const struct option_group *group, const struct option_row *row)
{
	char name[USER_FILE_PATH_BYTES + 100];

	setting_name(name, sizeof(name), s, x);
	return option_apply(options, group, row, setting_argument(row, x->value), name);
}

/*
 * Applies all settings of one option, those in a section last. For a switch only the last setting
 * counts; other options are set again or repeatedly.
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
	if (refused) /* once, however often it occurs */
		setting_refuse(refused_in, refused);
	if (!last || !is_switch(row) || setting_is_off(row, last->value))
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
