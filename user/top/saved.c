// SPDX-License-Identifier: BSD-2-Clause
#include "top/saved.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 4096
#define COMMAND_BIT (1U << COLUMN_COMMAND)

static const char *const keys_of_columns[] = { "columns", "columns-of-node" };

void saved_init(struct saved *s)
{
	*s = (struct saved){ .sort = COLUMN_SUM_CPU };
	for (int i = 0; i < NR_COLUMNS; i++) {
		s->columns[0] |= (uint32_t)columns[i].is_default << i;
		s->columns[1] |= (uint32_t)(columns[i].is_default || columns[i].is_default_of_node)
				 << i;
	}
}

bool saved_is(const struct saved *a, const struct saved *b)
{
	return !memcmp(a->columns, b->columns, sizeof(a->columns)) && a->sort == b->sort &&
	       a->is_reversed == b->is_reversed && a->is_flat == b->is_flat;
}

/* Returns the column of that title, or NR_COLUMNS. */
static int column_find(const char *title)
{
	int i = 0;

	while (i < NR_COLUMNS && strcmp(columns[i].title, title) != 0)
		i++;
	return i;
}

static void columns_parse(uint32_t *chosen, char *list)
{
	const char *title;

	*chosen = COMMAND_BIT;
	while ((title = strsep(&list, ",")))
		if (column_find(title) < NR_COLUMNS)
			*chosen |= 1U << column_find(title);
}

static void saved_take(struct saved *s, const char *key, char *value)
{
	int sort;

	for (size_t i = 0; i < 2; i++)
		if (!strcmp(key, keys_of_columns[i]))
			columns_parse(&s->columns[i], value);
	if (!strcmp(key, "reverse"))
		s->is_reversed = !strcmp(value, "yes");
	if (!strcmp(key, "flat"))
		s->is_flat = !strcmp(value, "yes");
	if (strcmp(key, "sort") != 0)
		return;
	sort = column_find(value);
	if (sort < NR_COLUMNS && column_has_order((enum column_id)sort))
		s->sort = (enum column_id)sort;
}

void saved_parse(struct saved *s, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *value = strstr(line, " = ");

		if (!value)
			continue;
		*value = '\0';
		saved_take(s, line, value + strlen(" = "));
	}
}

/*
 * Stores the path of the folder. Returns false if it is none of this user's, as after `su`, or if
 * files of options are switched off.
 */
static bool saved_folder(char *path, size_t size, bool makes)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	const char *off = getenv("BPFMON_NO_CONFIG");
	bool is_config = config && *config == '/';
	struct stat st;
	int n;

	if ((off && *off && strcmp(off, "0") != 0) || (!is_config && (!home || *home != '/')))
		return false;
	n = snprintf(path, size, "%s%s", is_config ? config : home, is_config ? "" : "/.config");
	if (n < 0 || (size_t)n + 16 >= size)
		return false;
	for (int i = 0; i < 2; i++) {
		if (makes)
			mkdir(path, 0700);
		if (stat(path, &st) || st.st_uid != geteuid())
			return false;
		if (!i)
			snprintf(path + n, size - (size_t)n, "/bpfmon");
	}
	return true;
}

void saved_read(struct saved *s)
{
	char folder[4000], path[4096], text[FILE_BYTES];
	ssize_t n = -1;
	int fd;

	if (!saved_folder(folder, sizeof(folder), false))
		return;
	snprintf(path, sizeof(path), "%s/top", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n < 0)
		return;
	text[n] = '\0';
	saved_parse(s, text);
}

static void columns_print(FILE *f, const char *key, uint32_t chosen)
{
	const char *comma = "";

	fprintf(f, "%s = ", key);
	for (int i = 0; i < NR_COLUMNS; i++) {
		if (!(chosen >> i & 1))
			continue;
		fprintf(f, "%s%s", comma, columns[i].title);
		comma = ",";
	}
	fputc('\n', f);
}

static bool saved_print(FILE *f, const struct saved *s)
{
	fputs("# written by bpfmon top\n", f);
	for (size_t i = 0; i < 2; i++)
		columns_print(f, keys_of_columns[i], s->columns[i]);
	fprintf(f, "sort = %s\nreverse = %s\nflat = %s\n", columns[s->sort].title,
		s->is_reversed ? "yes" : "no", s->is_flat ? "yes" : "no");
	return !ferror(f);
}

void saved_write(const struct saved *s)
{
	char folder[4000], path[4096], new_path[4096];
	bool is_written;
	FILE *f;
	int fd;

	if (!saved_folder(folder, sizeof(folder), true))
		return;
	snprintf(path, sizeof(path), "%s/top", folder);
	snprintf(new_path, sizeof(new_path), "%s/top.XXXXXX", folder);
	fd = mkstemp(new_path);
	f = fd < 0 ? NULL : memory_fdopen(fd, "w");
	is_written = f && saved_print(f, s);
	if (f ? fclose(f) : fd >= 0 && close(fd))
		is_written = false;
	if (fd >= 0 && (!is_written || rename(new_path, path)))
		unlink(new_path);
}
