// SPDX-License-Identifier: BSD-2-Clause
#include "shell/job_name.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "shell/first_word.h"
#include "shell/job_script.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SCRIPT_BYTES 65536 /* of its beginning; a job has its name in the first lines */
#define NEXTFLOW_SCRIPT ".command.sh"
#define NEXTFLOW_WRAPPER ".command.run" /* in the same folder, and has the name */

void job_name_tag(struct job_name *job, const char *key, const char *value)
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
	text_disarm(tag); /* other bytes could grow, and be refused */
	job->nr_tags++;
}

/* What the caller gives; "KEY=VALUE". A value that is too long is cut, a key is left out. */
static void given_tag_take(struct job_name *job, const char *tag)
{
	char key[JOB_TAG_BYTES], value[JOB_TAG_BYTES];
	size_t n = strcspn(tag, "=");

	if (n >= JOB_TAG_BYTES - 1)
		return; /* no room for the equals sign */
	plain_text_copy(tag, n, key, sizeof(key));
	plain_text_copy(tag + n + 1, strlen(tag + n + 1), value, JOB_TAG_BYTES - 1 - strlen(key));
	job_name_tag(job, key, value);
}

/* The beginning of a plain file: a pipe would lose what is read from it. Empty: there is none. */
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
			job_name_tag(job, "command", job->name);
		plain_text_copy(w->name, strlen(w->name), job->name, sizeof(job->name));
	}
	for (size_t i = 0; i < w->nr_tags; i++)
		given_tag_take(job, w->tags[i]);
	text_disarm(job->name);
	if (!*job->name)
		strcpy(job->name, "bash");
}

bool job_is_new(const struct job_name *job, const char *variable, const char *level)
{
	const char *before = variable ? strchr(variable, ' ') : NULL;

	return job->is_engines || !before || strcmp(before + 1, level ? level : "") != 0;
}
