// SPDX-License-Identifier: BSD-2-Clause
/* Reads the configuration, which is an INI file. */
#include "config/config.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "config/address.h"
#include "config/ini.h"
#include "config/secret.h"
#include "config/table.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Values of the configuration, by the type of their row. */

/* A group of the machine, by its name. */

#define MAX_BYTES (64 << 20) /* of a group with its members */

/* The id in @line, "NAME:PASSWORD:ID:", if it is of the group @name. */
static bool group_line_read(const char *line, const char *name, gid_t *gid)
{
	size_t length = strlen(name);
	const char *id;
	char *end;
	unsigned long v;

	if (strncmp(line, name, length) != 0 || line[length] != ':')
		return false;
	id = strchr(line + length + 1, ':');
	if (!id)
		return false;
	errno = 0;
	v = strtoul(id + 1, &end, 10);
	if (end == id + 1 || *end != ':' || errno || v >= CONFIG_NO_GROUP)
		return false;
	*gid = (gid_t)v;
	return true;
}

/*
 * Before the C library is asked, because that one crashes when memory ends while it reads its
 * configuration of sources (glibc 2.36). 0, or a negative errno.
 */
static int group_find_in_file(const char *name, gid_t *gid)
{
	__cleanup(fclosep) FILE *f = fopen("/etc/group", "re");
	bool is_begin = true;
	char line[512]; /* the names of members may be cut */

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (is_begin && group_line_read(line, name, gid))
			return 0;
		is_begin = strchr(line, '\n');
	}
	return ferror(f) ? -EIO : -ENOENT;
}

/* By all sources of the machine. 0, or a negative errno. */
static int group_find_anywhere(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	char *room = NULL, *grown;
	int err = ERANGE;

	for (size_t bytes = 4096; err == ERANGE && bytes <= MAX_BYTES; bytes *= 4) {
		grown = realloc(room, bytes);
		if (!grown) {
			err = ENOMEM;
			break;
		}
		room = grown;
		err = getgrnam_r(name, &entry, room, bytes, &found);
	}
	if (found)
		*gid = entry.gr_gid;
	free(room);
	if (found)
		return 0;
	/* what getgrnam(3) lists for names that are not found */
	if (!err || err == ESRCH || err == EBADF || err == EPERM)
		return -ENOENT;
	return -err;
}

/*
 * Finds the group that is called @text; empty: none. 0; -EINVAL: there is no such group, and @why
 * says what is allowed; or a negative errno of the look-up, in @why, too.
 */
static int config_group_find(const char *text, struct config_group *group, char *why, size_t size)
{
	int err = -ENOENT;

	*group = (struct config_group){ .gid = CONFIG_NO_GROUP };
	if (!*text)
		return 0;
	if (strlen(text) < sizeof(group->name)) {
		err = group_find_in_file(text, &group->gid);
		if (err == -ENOENT)
			err = group_find_anywhere(text, &group->gid);
	}
	if (!err) {
		snprintf(group->name, sizeof(group->name), "%s", text);
		return 0;
	}
	if (err == -ENOENT) {
		snprintf(why, size, "the name of a group of this machine, or nothing");
		return -EINVAL;
	}
	snprintf(why, size, "cannot look up this group: %s", strerror(-err));
	return err;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* The first is that of a number without one; the largest that divides a limit writes it. */
static const struct unit numbers[] = { { "", 1 }, { NULL, 0 } };
static const struct unit sizes[] = { { "", 1 },
				     { "K", 1ULL << 10 },
				     { "M", 1ULL << 20 },
				     { "G", 1ULL << 30 },
				     { "T", 1ULL << 40 },
				     { "KiB", 1ULL << 10 },
				     { "MiB", 1ULL << 20 },
				     { "GiB", 1ULL << 30 },
				     { "TiB", 1ULL << 40 },
				     { NULL, 0 } };
static const struct unit times[] = { { "", NSEC_PER_SEC },
				     { "ms", NSEC_PER_MSEC },
				     { "s", NSEC_PER_SEC },
				     { "min", 60 * NSEC_PER_SEC },
				     { "h", 3600 * NSEC_PER_SEC },
				     { "d", 86400 * NSEC_PER_SEC },
				     { NULL, 0 } };

static const struct unit percents[] = { { "%", 10000 }, { "", 10000 }, { NULL, 0 } };

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* As the file may have it: 50ms, 1G. */
static void limit_print(char *out, size_t room, const struct unit *units, uint64_t v)
{
	const struct unit *best = units;

	for (const struct unit *u = units; v && u->name; u++)
		if (v % u->factor == 0 && (v % best->factor || u->factor > best->factor))
			best = u;
	snprintf(out, room, "%llu%s", (unsigned long long)(v / best->factor), best->name);
}

/* Digits, a point only where there are units, and one of @units. */
static bool quantity_parse(const struct unit *units, const char *text, double *v)
{
	const struct unit *unit;
	size_t digits = strspn(text, "0123456789");
	char *end;

	if (!digits || digits > 18)
		return false;
	if (units == numbers || text[digits] != '.') {
		*v = (double)strtoull(text, &end, 10);
	} else {
		/* no exponent: "1.5e3" has a unit that is none */
		size_t fraction = strspn(text + digits + 1, "0123456789");

		if (!fraction)
			return false;
		*v = strtod(text, NULL);
		end = (char *)text + digits + 1 + fraction;
	}
	while (isblank((unsigned char)*end))
		end++;
	unit = unit_find(units, end);
	if (unit)
		*v *= (double)unit->factor;
	return unit;
}

static int quantity_set(const struct config_row *row, const struct unit *units, const char *example,
			const char *text, uint64_t *value, char *why, size_t size)
{
	char min[32], max[32];
	double v;

	if (quantity_parse(units, text, &v) && v >= (double)row->min && v <= (double)row->max) {
		*value = (uint64_t)llround(v);
		return 0;
	}
	limit_print(min, sizeof(min), units, row->min);
	limit_print(max, sizeof(max), units, row->max);
	snprintf(why, size, "%s, from %s to %s", example, min, max);
	return -EINVAL;
}

static int yes_no_set(const char *text, bool *value, char *why, size_t size)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
		snprintf(why, size, "yes or no");
		return -EINVAL;
	}
	*value = !strcmp(text, "yes");
	return 0;
}

static int hierarchy_set(const char *text, char *value, char *why, size_t size)
{
	if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_=.-")]) {
		snprintf(why, size, "auto, unified, or a controller of version 1");
		return -EINVAL;
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int hosts_set(const char *text, char *value, char *why, size_t size)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(" .-_", *p)) {
			snprintf(why, size, "names of hosts without ports, with blanks between");
			return -EINVAL;
		}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int file_set(const struct config_row *row, const char *text, char *value, char *why,
		    size_t size)
{
	bool is_optional = !*row->standard;
	int fd;

	if (*text ? *text != '/' || text[strlen(text) - 1] == '/' : !is_optional) {
		snprintf(why, size, "an absolute path%s", is_optional ? ", or nothing" : "");
		return -EINVAL;
	}
	if (*text && row->type == CONFIG_SECRET) {
		fd = secret_open(text, why, size);
		if (fd < 0)
			return fd;
		close(fd);
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

/*
 * Sets the value of @row, in the struct agent_config at @config, to what @text says. 0; -EINVAL: it
 * is no such value, and @why says what is allowed, without a full stop; or what reading of a file
 * or of the groups failed with, in @why, too.
 */
static int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
			    size_t size)
{
	void *value = (char *)config + row->offset;

	switch (row->type) {
	case CONFIG_YES_NO:
		return yes_no_set(text, value, why, size);
	case CONFIG_NUMBER:
		return quantity_set(row, numbers, "a whole number", text, value, why, size);
	case CONFIG_BYTES:
		return quantity_set(row, sizes, "bytes, as 512K, 64M or 1G", text, value, why,
				    size);
	case CONFIG_TIME:
		return quantity_set(row, times, "a time, as 50ms, 1.5s, 5min, 2h or 1d", text,
				    value, why, size);
	case CONFIG_PERCENT:
		return quantity_set(row, percents, "percent, as 0.5% or 2%", text, value, why,
				    size);
	case CONFIG_HIERARCHY:
		return hierarchy_set(text, value, why, size);
	case CONFIG_HOSTS:
		return hosts_set(text, value, why, size);
	case CONFIG_FILE:
	case CONFIG_SECRET:
		return file_set(row, text, value, why, size);
	case CONFIG_GROUP:
		return config_group_find(text, value, why, size);
	case CONFIG_ADDRESS:
		return config_address_parse(text, value, why, size);
	default:
		return -EINVAL;
	}
}

#define MAX_RULES 256
#define MAX_ROWS 64 /* bits of a word */

struct reading {
	struct ini in;
	struct agent_config *c;
	const char *section;      /* of the table; NULL: of a rule, or none yet */
	struct config_rule *rule; /* the one that is being read; or NULL */
	uint64_t seen;            /* rows that were set */
};

#define WORD "1 to %d letters, digits, dots, - and _"

static bool is_word(const char *text)
{
	size_t n =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n && n < CONFIG_WORD_BYTES && !text[n];
}

static int rule_begin(struct reading *r, const char *name)
{
	struct agent_config *c = r->c;
	struct config_rule *grown;

	if (!is_word(name))
		return ini_refuse(&r->in, -EINVAL, "[rule %s]: the name of a rule has " WORD, name,
				  CONFIG_WORD_BYTES - 1);
	for (size_t i = 0; i < c->nr_rules; i++)
		if (!strcmp(c->rules[i].name, name))
			return ini_refuse(
				&r->in, -EINVAL,
				"[rule %s] is given twice, first in line %u; each rule has a "
				"name of its own",
				name, c->rules[i].line);
	if (c->nr_rules == MAX_RULES)
		return ini_refuse(&r->in, -EINVAL, "too many rules; %d are allowed", MAX_RULES);
	grown = reallocarray(c->rules, c->nr_rules + 1, sizeof(*grown));
	if (!grown)
		return ini_refuse(&r->in, -ENOMEM, "out of memory");
	c->rules = grown;
	r->rule = &grown[c->nr_rules++];
	*r->rule = (struct config_rule){ .line = r->in.line };
	snprintf(r->rule->name, sizeof(r->rule->name), "%s", name);
	return 0;
}

/* A rule without a kind or pattern is refused where it ends; the line is that of its beginning. */
static int rule_end(struct reading *r)
{
	const struct config_rule *rule = r->rule;
	unsigned line = r->in.line;

	r->rule = NULL;
	if (!rule || (*rule->kind && *rule->pattern))
		return 0;
	r->in.line = rule->line;
	ini_refuse(&r->in, -EINVAL, "[rule %s] has no %s; a rule has both kind and pattern",
		   rule->name, *rule->kind ? "pattern" : "kind");
	r->in.line = line;
	return r->in.err;
}

static int section_begin(struct ini *in, const char *name)
{
	struct reading *r = in->context;

	r->section = NULL;
	if (rule_end(r))
		return r->in.err;
	if (!strncmp(name, "rule ", 5))
		return rule_begin(r, name + 5 + strspn(name + 5, " \t"));
	for (size_t i = 0; i < nr_config_sections; i++)
		if (!strcmp(config_sections[i].name, name))
			r->section = config_sections[i].name;
	if (!r->section)
		return ini_refuse(&r->in, -EINVAL,
				  "there is no section [%s]; there are [agent], [limits], [leave], "
				  "[history], [exporter] and [rule NAME]",
				  name);
	return 0;
}

static int rule_key_set(struct reading *r, const char *key, const char *value)
{
	struct config_rule *rule = r->rule;
	bool is_kind = !strcmp(key, "kind");
	char *at = is_kind ? rule->kind : rule->pattern;
	size_t room = is_kind ? sizeof(rule->kind) : sizeof(rule->pattern);

	if (!is_kind && strcmp(key, "pattern") != 0)
		return ini_refuse(&r->in, -EINVAL, "a rule has no key %s; it has kind and pattern",
				  key);
	if (*at)
		return ini_refuse(&r->in, -EINVAL,
				  "%s of [rule %s] is given twice; remove one of them", key,
				  rule->name);
	if (is_kind && !is_word(value))
		return ini_refuse(&r->in, -EINVAL, "kind = %s is wrong; allowed are " WORD, value,
				  CONFIG_WORD_BYTES - 1);
	if (!*value || strlen(value) >= room)
		return ini_refuse(&r->in, -EINVAL,
				  "%s = %s is wrong; a pattern has 1 to %zu characters", key, value,
				  room - 1);
	snprintf(at, room, "%s", value);
	return 0;
}

static int row_set(struct reading *r, size_t i, const char *value)
{
	const struct config_row *row = &config_rows[i];
	char allowed[CONFIG_WHY_BYTES];
	int err;

	if (r->seen & (1ULL << i))
		return ini_refuse(&r->in, -EINVAL, "%s of [%s] is given twice; remove one of them",
				  row->key, row->section);
	r->seen |= 1ULL << i;
	err = config_value_set(row, r->c, value, allowed, sizeof(allowed));
	if (err == -EINVAL)
		return ini_refuse(&r->in, err, "%s = %s is wrong; allowed is: %s", row->key, value,
				  allowed);
	return err ? ini_refuse(&r->in, err, "%s = %s: %s", row->key, value, allowed) : 0;
}

static int config_key_set(struct ini *in, const char *key, const char *value)
{
	struct reading *r = in->context;

	if (r->rule)
		return rule_key_set(r, key, value);
	for (size_t i = 0; i < nr_config_rows; i++)
		if (!strcmp(config_rows[i].section, r->section) && !strcmp(config_rows[i].key, key))
			return row_set(r, i, value);
	return ini_refuse(in, -EINVAL, "[%s] has no key %s; bpfmon agent --sample shows all keys",
			  r->section, key);
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

/* What no key shows by itself. */
static int endpoint_check(const struct agent_config *c, char *why, size_t size)
{
	const char *path = c->path;

	if (!*c->certificate != !*c->key) {
		snprintf(why, size,
			 "%s: [exporter] has %s without %s; HTTPS needs both, HTTP neither", path,
			 *c->key ? "key" : "certificate", *c->key ? "certificate" : "key");
		return -EINVAL;
	}
	if (!c->listen.bytes || c->listen.is_loopback || (*c->certificate && *c->password_file))
		return 0;
	snprintf(why, size,
		 "%s: listen = %s of [exporter] is reached by other machines, and %s not set; set "
		 "certificate, key and password_file, or listen at 127.0.0.1",
		 path, c->listen.text,
		 *c->certificate     ? "password_file is"
		 : *c->password_file ? "certificate is"
				     : "certificate and password_file are");
	return -EINVAL;
}

int config_read_stream(FILE *f, const char *name, struct agent_config *c, char *why, size_t size)
{
	struct reading r = { .c = c };
	int err = config_set_defaults(c, why, size);

	snprintf(c->path, sizeof(c->path), "%s", name);
	r.in = (struct ini){ .f = f,
			     .name = c->path,
			     .context = &r,
			     .section = section_begin,
			     .key = config_key_set,
			     .needs_section = true,
			     .first = "agent",
			     .why = why,
			     .size = size };
	if (!err) {
		ini_read(&r.in);
		rule_end(&r);
		err = r.in.err;
	}
	if (!err)
		err = endpoint_check(c, why, size);
	if (err) {
		config_done(c);
		text_disarm(why);
	}
	return err;
}

/* Whoever can write the file chooses what root opens. */
static int config_file_check(FILE *f, const char *path, char *why, size_t size)
{
	const char *fault = NULL;
	struct stat st;
	int err;

	if (fstat(fileno(f), &st)) {
		err = -errno;
		snprintf(why, size, "cannot read %s: %s", path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode))
		fault = "it is no regular file; name one";
	else if (!geteuid() && st.st_uid)
		fault = "its owner is not root; chown root";
	else if (!geteuid() && st.st_mode & (S_IWGRP | S_IWOTH))
		fault = "others than root can write it; chmod go-w";
	if (!fault)
		return 0;
	snprintf(why, size, "%s is not read: %s", path, fault);
	return -EPERM;
}

int config_read(const char *path, struct agent_config *c, char *why, size_t size)
{
	const char *name = path ? path : CONFIG_PATH;
	/* O_NONBLOCK: a FIFO would wait for its writer */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	__cleanup(fclosep) FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	memset(c, 0, sizeof(*c));
	if (fd < 0 && errno == ENOENT && !path)
		return config_set_defaults(c, why, size);
	if (!f) {
		err = -errno;
		snprintf(why, size, "cannot open %s: %s", name, strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = config_file_check(f, name, why, size);
	return err ? err : config_read_stream(f, name, c, why, size);
}

void config_done(struct agent_config *c)
{
	free(c->rules);
	memset(c, 0, sizeof(*c));
}
