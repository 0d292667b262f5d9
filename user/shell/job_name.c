// SPDX-License-Identifier: BSD-2-Clause
#include "shell/job_name.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "shell/shell_words.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SCRIPT_BYTES 65536 /* read of a script; the job's name is in the first lines */
#define NEXTFLOW_SCRIPT ".command.sh"
#define NEXTFLOW_WRAPPER ".command.run" /* in the same folder; contains the name */

/* Adds a tag, unless its key exists, there is no room, or it is too long. */
static void job_name_add_tag(struct job_name *job, const char *key, const char *value)
{
	size_t n = strlen(key), length = strlen(value);
	char *tag;

	if (job->nr_tags == MAX_SPAN_TAGS || !n || strchr(key, '=') ||
	    n + 1 + length >= JOB_TAG_BYTES)
		return;
	for (size_t i = 0; i < job->nr_tags; i++)
		if (!strncmp(job->tags[i], key, n) && job->tags[i][n] == '=')
			return;
	tag = job->tags[job->nr_tags];
	memcpy(tag, key, n + 1);
	tag[n] = '=';
	memcpy(tag + n + 1, value, length + 1);
	text_disarm(tag); /* other bytes could grow when escaped, and be refused */
	job->nr_tags++;
}

/*
 * Adds a tag "KEY=VALUE" of the caller. Too long a value is cut; a tag with too long a key is left
 * out.
 */
static void job_name_add_given_tag(struct job_name *job, const char *tag)
{
	char key[JOB_TAG_BYTES], value[JOB_TAG_BYTES];
	size_t n = strcspn(tag, "=");

	if (n >= JOB_TAG_BYTES - 1)
		return; /* no room for the equals sign */
	plain_text_copy(tag, n, key, sizeof(key));
	plain_text_copy(tag + n + 1, strlen(tag + n + 1), value, JOB_TAG_BYTES - 1 - strlen(key));
	job_name_add_tag(job, key, value);
}

/*
 * Reads the beginning of a regular file (reading a pipe would consume its data). Sets @text to ""
 * if there is none.
 */
static void script_read(const char *path, char text[SCRIPT_BYTES])
{
	__cleanup(closep) int fd = -1;
	struct stat st;
	ssize_t n = 0;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, text, SCRIPT_BYTES - 1, 0);
	text[n > 0 ? n : 0] = '\0';
}

static bool script_name(struct job_name *job, const char *script)
{
	static char text[SCRIPT_BYTES];
	const char *base = strrchr(script, '/');
	char path[4096];
	size_t folder;

	base = base ? base + 1 : script;
	folder = (size_t)(base - script);
	if (!strcmp(base, NEXTFLOW_SCRIPT) && folder + sizeof(NEXTFLOW_WRAPPER) <= sizeof(path)) {
		memcpy(path, script, folder);
		memcpy(path + folder, NEXTFLOW_WRAPPER, sizeof(NEXTFLOW_WRAPPER));
		script = path;
	}
	script_read(script, text);
	if (job_script_read(job, text))
		return true;
	plain_text_copy(base, strlen(base), job->name, sizeof(job->name));
	return false;
}

void job_name_find(struct job_name *job, const struct shell_words *w)
{
	*job = (struct job_name){ .is_engines = w->name };
	if (!w->text && w->script)
		job->is_engines |= script_name(job, w->script);
	else if (w->text)
		first_word_copy(w->text, job->name, sizeof(job->name));
	if (w->name) {
		if (w->text && *job->name)
			job_name_add_tag(job, "command", job->name);
		plain_text_copy(w->name, strlen(w->name), job->name, sizeof(job->name));
	}
	for (size_t i = 0; i < w->nr_tags; i++)
		job_name_add_given_tag(job, w->tags[i]);
	text_disarm(job->name);
	if (!*job->name)
		strcpy(job->name, "bash");
}

bool job_is_new(const struct job_name *job, const char *variable, const char *level)
{
	const char *before = variable ? strchr(variable, ' ') : NULL;

	return job->is_engines || !before || strcmp(before + 1, level ? level : "") != 0;
}

/*
 * A minimal JSON reader for some members of an object that may be truncated; small so that the
 * wrapper starts fast. A member is a pointer to its key.
 */

static const char *space_end(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Returns the end of the string at @at, which begins with a quote; NULL if it is truncated. */
static const char *quoted_end(const char *at)
{
	for (at++; *at; at++) {
		if (*at == '"')
			return at + 1;
		if (*at == '\\' && *++at == '\0')
			break;
	}
	return NULL;
}

/* Returns the end of the value at @at; NULL if it is truncated. */
static const char *value_end(const char *at)
{
	unsigned depth = 0;

	do {
		if (*at == '"') {
			at = quoted_end(at);
		} else if (*at == '{' || *at == '[') {
			depth++, at++;
		} else if (*at == '}' || *at == ']') {
			depth--, at++;
		} else {
			at += depth ? 1 : strcspn(at, ",}]");
		}
	} while (at && *at && depth);
	return at && *at && !depth ? at : NULL;
}

static const char *property_here(const char *at)
{
	const char *key = space_end(at), *colon;

	if (*key != '"')
		return NULL;
	colon = quoted_end(key);
	return colon && *space_end(colon) == ':' ? key : NULL;
}

/* Returns the first member of the object at @at, which may be NULL; NULL if there is none. */
static const char *properties_begin(const char *at)
{
	return at && *at == '{' ? property_here(at + 1) : NULL;
}

/* Returns the value of @member; NULL if @member is NULL. */
static const char *property_value(const char *member)
{
	return member ? space_end(space_end(quoted_end(member)) + 1) : NULL;
}

static const char *property_next(const char *member)
{
	const char *at = value_end(property_value(member));

	at = at ? space_end(at) : NULL;
	return at && *at == ',' ? property_here(at + 1) : NULL;
}

/* Returns the member @key (plain ASCII) of the object at @at, or NULL. */
static const char *property_find(const char *at, const char *key)
{
	size_t n = strlen(key);

	for (at = properties_begin(at); at; at = property_next(at))
		if (!strncmp(at + 1, key, n) && at[n + 1] == '"')
			break;
	return at;
}

static bool hex_read(const char *at, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)at[i]))
			return false;
		*value = *value << 4 | (isdigit((unsigned char)at[i]) ? (uint32_t)(at[i] - '0')
								      : (at[i] & 0xfU) + 9);
	}
	return true;
}

/* Reads the character uXXXX, or uXXXX\uXXXX, at *@at and advances *@at. */
static bool character_read(const char **at, uint32_t *c)
{
	uint32_t low;

	if (!hex_read(*at + 1, c))
		return false;
	*at += 5;
	if (*c < 0xd800 || *c > 0xdbff || (*at)[0] != '\\' || (*at)[1] != 'u' ||
	    !hex_read(*at + 2, &low) || low < 0xdc00 || low > 0xdfff)
		return true;
	*at += 6;
	*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* Writes @c as UTF-8 to @out, of 4 bytes. Returns the length. */
static size_t character_write(char *out, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(n == 1 ? c : first[n] | c);
	return n;
}

/*
 * Reads the escape after a backslash at *@at and advances *@at. Returns the length in @out; 0 if
 * malformed.
 */
static size_t escape_read(const char **at, char *out)
{
	static const char letters[] = "btnfr", meant[] = "\b\t\n\f\r";
	const char *found = strchr(letters, **at);
	uint32_t c;

	if (**at == 'u')
		return character_read(at, &c) ? character_write(out, c) : 0;
	*out = found ? meant[found - letters] : **at;
	++*at;
	return 1;
}

/* Copies the string at @at. Returns false if it is malformed, or does not fit. */
static bool quoted_copy(const char *at, char *out, size_t size)
{
	size_t used = 0;

	if (!at || *at != '"' || !quoted_end(at))
		return false;
	for (at++; *at != '"';) {
		char character[4] = { *at };
		size_t n = 1;

		if (*at++ == '\\')
			n = escape_read(&at, character);
		if (!n || used + n >= size)
			return false;
		memcpy(out + used, character, n);
		used += n;
	}
	out[used] = '\0';
	return strlen(out) == used;
}

static bool property_key(const char *member, char *out, size_t size)
{
	return quoted_copy(member, out, size);
}

/*
 * Copies the value of @member, which may be NULL. Returns false if it is no string, or does not
 * fit.
 */
static bool property_text(const char *member, char *out, size_t size)
{
	return quoted_copy(property_value(member), out, size);
}

#define PROPERTIES "# properties = " /* by Snakemake, in the script that a cluster executes */
#define TASK "# NEXTFLOW TASK: "     /* in .command.run */

/* Returns the text after @prefix at the beginning of a line; NULL if no line begins with it. */
static const char *script_line_find(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	while (text && strncmp(text, prefix, n) != 0) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? text + n : NULL;
}

/* Reads a task such as "align (A7)", of the process align. */
static void task_take(struct job_name *job, const char *task)
{
	size_t n = strcspn(task, "\n"), name = n;
	char whole[JOB_TAG_BYTES];

	for (size_t i = 1; i + 1 < n && name == n; i++)
		if (task[i] == ' ' && task[i + 1] == '(')
			name = i;
	plain_text_copy(task, name, job->name, sizeof(job->name));
	plain_text_copy(task, n, whole, sizeof(whole));
	job_name_add_tag(job, "task", whole);
}

static void wildcards_take(struct job_name *job, const char *at)
{
	char key[JOB_TAG_BYTES], value[JOB_TAG_BYTES];

	for (at = properties_begin(at); at; at = property_next(at))
		if (property_key(at, key, sizeof(key)) && property_text(at, value, sizeof(value)))
			job_name_add_tag(job, key, value);
}

/* Reads the properties of a job of one rule, or of a group of jobs. */
static bool properties_take(struct job_name *job, const char *properties)
{
	const char *rule = property_find(properties, "rule");

	if (!rule)
		return property_text(property_find(properties, "groupid"), job->name,
				     sizeof(job->name));
	if (!property_text(rule, job->name, sizeof(job->name)))
		return false;
	job_name_add_tag(job, "rule", job->name);
	wildcards_take(job, property_value(property_find(properties, "wildcards")));
	return true;
}

bool job_script_read(struct job_name *job, const char *text)
{
	const char *properties = script_line_find(text, PROPERTIES), *task;

	if (properties)
		return properties_take(job, properties) && *job->name;
	task = script_line_find(text, TASK);
	if (task)
		task_take(job, task);
	return task && *job->name;
}
