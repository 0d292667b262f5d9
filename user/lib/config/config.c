// SPDX-License-Identifier: BSD-2-Clause
/* Reads the configuration: an INI file and its drop-ins. */
#include "config/config.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "config/ini.h"
#include "config/table.h"
#include "config/user_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_RULES 256
#define MAX_ROWS 64 /* bits of a word */

struct reading {
	struct ini in;
	struct agent_config *c;
	const char *section;      /* name in the table; NULL within a rule or before any section */
	struct config_rule *rule; /* being read; or NULL */
	uint64_t seen;            /* mask of rows that were set */
};

#define WORD "1 to %d letters, digits, dots, - and _"

static bool is_word(const char *text)
{
	size_t n =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n && n < CONFIG_WORD_BYTES && !text[n];
}

static int rule_refuse_duplicate(struct reading *r, const struct config_rule *first)
{
	if (first->file == r->c->nr_files - 1)
		return ini_refuse(
			&r->in, -EINVAL,
			"duplicate [rule %s], first defined in line %u; rename one of them",
			first->name, first->line);
	return ini_refuse(&r->in, -EINVAL,
			  "duplicate [rule %s], first defined in %s:%u; rename one of them",
			  first->name, r->c->files[first->file], first->line);
}

static int rule_begin(struct reading *r, const char *name)
{
	struct agent_config *c = r->c;
	struct config_rule *grown;

	if (!is_word(name))
		return ini_refuse(&r->in, -EINVAL, "[rule %s]: the name of a rule must have " WORD,
				  name, CONFIG_WORD_BYTES - 1);
	for (size_t i = 0; i < c->nr_rules; i++)
		if (!strcmp(c->rules[i].name, name))
			return rule_refuse_duplicate(r, &c->rules[i]);
	if (c->nr_rules == MAX_RULES)
		return ini_refuse(&r->in, -EINVAL, "too many rules; the limit is %d", MAX_RULES);
	grown = memory_reallocarray(c->rules, c->nr_rules + 1, sizeof(*grown));
	if (!grown)
		return ini_refuse(&r->in, -ENOMEM, "out of memory");
	c->rules = grown;
	r->rule = &grown[c->nr_rules++];
	*r->rule = (struct config_rule){ .file = c->nr_files - 1, .line = r->in.line };
	snprintf(r->rule->name, sizeof(r->rule->name), "%s", name);
	return 0;
}

/* Refuses a rule without kind or pattern, where it ends, with the line of its beginning. */
static int rule_end(struct reading *r)
{
	const struct config_rule *rule = r->rule;
	unsigned line = r->in.line;

	r->rule = NULL;
	if (!rule || (*rule->kind && *rule->pattern))
		return 0;
	r->in.line = rule->line;
	ini_refuse(&r->in, -EINVAL, "[rule %s] has no %s; a rule needs kind and pattern",
		   rule->name, *rule->kind ? "pattern" : "kind");
	r->in.line = line;
	return r->in.err;
}

static int section_begin(struct ini *in, const char *name)
{
	struct reading *r = in->context;
	struct nearest n;

	r->section = NULL;
	if (rule_end(r))
		return r->in.err;
	if (!strncmp(name, "rule ", 5))
		return rule_begin(r, name + 5 + strspn(name + 5, " \t"));
	nearest_begin(&n, name, strlen(name));
	for (size_t i = 0; i < nr_config_sections; i++) {
		if (!strcmp(config_sections[i].name, name))
			r->section = config_sections[i].name;
		nearest_offer(&n, config_sections[i].name);
	}
	if (r->section)
		return 0;
	if (n.word)
		return ini_refuse(in, -EINVAL, "unknown section [%s]; did you mean [%s]?", name,
				  n.word);
	return ini_refuse(in, -EINVAL,
			  "unknown section [%s]; sections are [agent], [limits], [leave], "
			  "[history], [exporter], [push] and [rule NAME]",
			  name);
}

static int rule_key_set(struct reading *r, const char *key, const char *value)
{
	struct config_rule *rule = r->rule;
	bool is_kind = !strcmp(key, "kind");
	char *at = is_kind ? rule->kind : rule->pattern;
	size_t room = is_kind ? sizeof(rule->kind) : sizeof(rule->pattern);

	if (!is_kind && strcmp(key, "pattern") != 0)
		return ini_refuse(&r->in, -EINVAL,
				  "unknown key %s in a rule; a rule has kind and pattern", key);
	if (*at)
		return ini_refuse(&r->in, -EINVAL,
				  "duplicate key %s in [rule %s]; remove one of them", key,
				  rule->name);
	if (is_kind && !is_word(value))
		return ini_refuse(&r->in, -EINVAL, "kind = %s: expected " WORD, value,
				  CONFIG_WORD_BYTES - 1);
	if (!*value || strlen(value) >= room)
		return ini_refuse(&r->in, -EINVAL, "%s = %s: expected 1 to %zu characters", key,
				  value, room - 1);
	snprintf(at, room, "%s", value);
	return 0;
}

static int row_set(struct reading *r, size_t i, const char *value)
{
	const struct config_row *row = &config_rows[i];
	char allowed[CONFIG_WHY_BYTES];
	int err;

	if (r->seen & (1ULL << i))
		return ini_refuse(&r->in, -EINVAL, "duplicate key %s in [%s]; remove one of them",
				  row->key, row->section);
	r->seen |= 1ULL << i;
	err = config_value_set(row, r->c, value, allowed, sizeof(allowed));
	if (err == -EINVAL)
		return ini_refuse(&r->in, err, "%s = %s: expected %s", row->key, value, allowed);
	return err ? ini_refuse(&r->in, err, "%s = %s: %s", row->key, value, allowed) : 0;
}

static int config_key_refuse(struct reading *r, const char *key)
{
	struct nearest n;

	nearest_begin(&n, key, strlen(key));
	for (size_t i = 0; i < nr_config_rows; i++)
		if (!strcmp(config_rows[i].section, r->section))
			nearest_offer(&n, config_rows[i].key);
	if (n.word)
		return ini_refuse(&r->in, -EINVAL, "[%s] has no key %s; did you mean %s?",
				  r->section, key, n.word);
	return ini_refuse(&r->in, -EINVAL,
			  "[%s] has no key %s; 'bpfmon agent --sample' prints all keys", r->section,
			  key);
}

static const struct config_row *config_row_find(const char *section, const char *key)
{
	for (size_t i = 0; i < nr_config_rows; i++)
		if (!strcmp(config_rows[i].section, section) && !strcmp(config_rows[i].key, key))
			return &config_rows[i];
	return NULL;
}

static int config_key_set(struct ini *in, const char *key, const char *value)
{
	struct reading *r = in->context;
	const struct config_row *row;

	if (r->rule)
		return rule_key_set(r, key, value);
	row = config_row_find(r->section, key);
	return row ? row_set(r, (size_t)(row - config_rows), value) : config_key_refuse(r, key);
}

int config_set_defaults(struct agent_config *c, char *why, size_t size)
{
	int err = 0;

	_Static_assert(MAX_ROWS <= 8 * sizeof(((struct reading *)0)->seen), "a bit for each row");
	memset(c, 0, sizeof(*c));
	for (size_t i = 0; !err && i < nr_config_rows; i++)
		err = config_value_set(&config_rows[i], c, config_rows[i].standard, why, size);
	return err;
}

int config_set(struct agent_config *c, const char *key, const char *text, char *why, size_t size)
{
	const struct config_row *row = config_row_find("push", key);

	if (strlen(text) >= CONFIG_TEXT_BYTES) {
		snprintf(why, size, "at most %d characters", CONFIG_TEXT_BYTES - 1);
		return -EINVAL;
	}
	return row ? config_value_set(row, c, text, why, size) : -ENOENT;
}

/* Checks combinations of keys. */
static int endpoint_check(const struct agent_config *c, char *why, size_t size)
{
	const char *path = c->nr_files ? c->files[0] : "";

	if (!*c->certificate != !*c->key) {
		snprintf(
			why, size,
			"%s: [exporter] has %s without %s; set both for HTTPS, or neither for HTTP",
			path, *c->key ? "key" : "certificate", *c->key ? "certificate" : "key");
		return -EINVAL;
	}
	if (!c->listen.bytes || c->listen.is_loopback || (*c->certificate && *c->password_file))
		return 0;
	snprintf(why, size,
		 "%s: [exporter] listens on %s, which other machines can reach, but %s not set; "
		 "set certificate, key and password_file, or listen on 127.0.0.1",
		 path, c->listen.text,
		 *c->certificate     ? "password_file is"
		 : *c->password_file ? "certificate is"
				     : "certificate and password_file are");
	return -EINVAL;
}

static int config_add_file(struct agent_config *c, const char *name)
{
	char **grown = memory_reallocarray(c->files, c->nr_files + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->files = grown;
	grown[c->nr_files] = memory_strdup(name);
	return grown[c->nr_files++] ? 0 : -ENOMEM;
}

/* Reads a file into @c; the keys that it sets replace those of the files before. */
static int stream_take(FILE *f, const char *name, struct agent_config *c, char *why, size_t size)
{
	struct reading r = { .c = c };
	int err = config_add_file(c, name);

	if (err) {
		snprintf(why, size, "cannot read %s: %s", name, strerror(-err));
		return err;
	}
	r.in = (struct ini){ .f = f,
			     .name = name,
			     .context = &r,
			     .section = section_begin,
			     .key = config_key_set,
			     .needs_section = true,
			     .first = "agent",
			     .why = why,
			     .size = size };
	ini_read(&r.in);
	rule_end(&r);
	return r.in.err;
}

/* Ends the reading of all files. */
static int config_end(struct agent_config *c, int err, char *why, size_t size)
{
	if (!err)
		err = endpoint_check(c, why, size);
	if (err) {
		config_done(c);
		text_disarm(why);
	}
	return err;
}

int config_read_stream(FILE *f, const char *name, struct agent_config *c, char *why, size_t size)
{
	int err = config_set_defaults(c, why, size);

	snprintf(c->path, sizeof(c->path), "%s", name);
	return config_end(c, err ? err : stream_take(f, name, c, why, size), why, size);
}

/* A user that can write the file, or the folder of drop-ins, could choose what root opens. */
static int access_check(const struct stat *st, mode_t type, const char *path, char *why,
			size_t size)
{
	const char *fault = NULL, *remedy = NULL;

	if ((st->st_mode & S_IFMT) != type)
		fault = type == S_IFDIR ? "it is not a directory" : "it is not a regular file";
	else if (!geteuid() && st->st_uid)
		fault = "its owner is not root", remedy = "chown root";
	else if (!geteuid() && st->st_mode & (S_IWGRP | S_IWOTH))
		fault = "users other than root can write to it", remedy = "chmod go-w";
	if (!fault)
		return 0;
	if (remedy)
		snprintf(why, size, "refusing to read %s: %s; run: %s %s", path, fault, remedy,
			 path);
	else
		snprintf(why, size, "refusing to read %s: %s", path, fault);
	return -EPERM;
}

/* Returns -ENOENT if there is no such file. */
static int file_take(const char *name, struct agent_config *c, char *why, size_t size)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	__cleanup(fclosep) FILE *f = fd >= 0 ? memory_fdopen(fd, "r") : NULL;
	struct stat st;

	if (!f || fstat(fd, &st)) {
		err = -errno;
		snprintf(why, size, "cannot open %s: %s", name, strerror(-err));
		if (!f && fd >= 0)
			close(fd);
		return err;
	}
	err = access_check(&st, S_IFREG, name, why, size);
	return err ? err : stream_take(f, name, c, why, size);
}

static int dropin_takes(const struct dirent *e)
{
	size_t length = strlen(e->d_name);

	return *e->d_name != '.' && length > 5 && !strcmp(e->d_name + length - 5, ".conf");
}

static int dropin_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Lists the drop-ins in @folder. Returns their number, 0 if there is no such folder, or a negative
 * errno.
 */
static int dropins_list(const char *folder, struct dirent ***found, char *why, size_t size)
{
	struct stat st;
	int nr, err;

	if (!stat(folder, &st)) {
		err = access_check(&st, S_IFDIR, folder, why, size);
		if (err)
			return err;
		nr = memory_scandir(folder, found, dropin_takes, dropin_compare);
		if (nr >= 0)
			return nr;
	}
	err = -errno;
	snprintf(why, size, "cannot read %s: %s", folder, strerror(-err));
	return err == -ENOENT ? 0 : err;
}

/* Reads the drop-ins of the file @name. */
static int dropins_take(const char *name, struct agent_config *c, char *why, size_t size)
{
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 1];
	struct dirent **found = NULL;
	int nr, err = 0;

	snprintf(folder, sizeof(folder), "%s.d", name);
	nr = dropins_list(folder, &found, why, size);
	for (int i = 0; found && i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, found[i]->d_name);
		if (!err)
			err = file_take(path, c, why, size);
		free(found[i]);
	}
	free(found);
	return nr < 0 ? nr : err;
}

int config_read(const char *path, struct agent_config *c, char *why, size_t size)
{
	const char *name = path ? path : CONFIG_PATH;
	int err = config_set_defaults(c, why, size);

	if (!err) {
		err = file_take(name, c, why, size);
		if (!err)
			snprintf(c->path, sizeof(c->path), "%s", name);
		else if (err == -ENOENT && !path && !c->nr_files)
			err = 0;
	}
	if (!err)
		err = dropins_take(name, c, why, size);
	return config_end(c, err, why, size);
}

void config_done(struct agent_config *c)
{
	for (size_t i = 0; i < c->nr_files; i++)
		free(c->files[i]);
	free(c->files);
	free(c->rules);
	memset(c, 0, sizeof(*c));
}

/* The sample configuration, of which docs/agent.conf is made. */

/* clang-format off: one line of the file a line */
static const char head[] =
	"# The configuration of the node agent (bpfmon agent): " CONFIG_PATH "\n"
	"#\n"
	"# Each key is here with its default. The agent reads the file when it starts and on "
	"SIGHUP, then\n"
	"# the files agent.conf.d/*.conf beside it, in the order of their names: the last value of "
	"a "
	"key\n"
	"# counts. A comment begins with # or ; at the start of a line, or with a space and ; "
	"after a "
	"value.\n"
	"# A line has at most 198 bytes. Only root may own the files and the folder, and write to "
	"them.\n";

static const char rules[] =
	"\n"
	"# Rules: which cgroups are jobs. The built-in ones (NODE.md) know systemd, Slurm, "
	"Kubernetes,\n"
	"# containers and others. Rules in these files are tried before them, in order; the "
	"first match\n"
	"# wins.\n"
	"#\n"
	"# pattern is the path of a cgroup from the root of its hierarchy; all cgroups below it "
	"belong\n"
	"# to the job, too. {NAME} and * match one or more characters except /. {NAME:CLASS} "
	"matches\n"
	"# one of these:\n"
	"#   number   decimal digits\n"
	"#   hex      hexadecimal digits; hash: 64 of them; uuid: 8-4-4-4-12, or 32\n"
	"#   service  a name that ends in .service; likewise scope, slice, and unit (service or "
	"scope)\n"
	"# **.slice matches any number of nested slices, including none. The parts in {}, in order "
	"and\n"
	"# joined by /, are the ID of the job; {uid:number} is its user. kind is a word for lists "
	"and\n"
	"# totals; cgroups that match a rule with kind none are not jobs of their own.\n"
	"#\n"
	"#[rule build]\n"
	"#kind = build\n"
	"#pattern = /builds/u{uid:number}/{build}\n";
/* clang-format on */

void config_print_sample(FILE *f)
{
	const char *section = "";

	fputs(head, f);
	for (size_t i = 0; i < nr_config_rows; i++) {
		const struct config_row *row = &config_rows[i];

		for (size_t k = 0; k < nr_config_sections; k++) {
			if (strcmp(section, row->section) != 0 &&
			    !strcmp(config_sections[k].name, row->section)) {
				section = row->section;
				fprintf(f, "\n# %s.\n[%s]\n", config_sections[k].help, section);
			}
		}
		fprintf(f, "# %s\n", row->help);
		if (row->packaged)
			fprintf(f, "%s = %s\n", row->key, row->packaged);
		else
			fprintf(f, "#%s =%s%s\n", row->key, *row->standard ? " " : "",
				row->standard);
	}
	fputs(rules, f);
}
