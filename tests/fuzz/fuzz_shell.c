// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of a job's shell, which whoever calls the wrapper chooses, one a line up to the first
 * empty one; what follows it is the script, where the words name one. Nothing is executed.
 */
#include "fuzz.h"

#include "shell/job_name.h"
#include "shell/shell_words.h"

#define WORDS 64

static size_t words_split(char *text, char **words)
{
	size_t nr = 0;

	for (char *word; nr < WORDS && (word = strsep(&text, "\n"));)
		words[nr++] = word;
	return nr;
}

static void check_name(const struct job_name *job)
{
	FUZZ_HOLDS(*job->name && strlen(job->name) < sizeof(job->name));
	fuzz_is_inert(job->name, strlen(job->name));
	FUZZ_HOLDS(job->nr_tags <= MAX_SPAN_TAGS);
	for (size_t i = 0; i < job->nr_tags; i++) {
		size_t key = strcspn(job->tags[i], "=");

		FUZZ_HOLDS(key && job->tags[i][key] && strlen(job->tags[i]) < JOB_TAG_BYTES);
		fuzz_is_inert(job->tags[i], strlen(job->tags[i]));
	}
}

static void check_command(const struct shell_words *w)
{
	struct simple_command c;

	if (!simple_command_read(&c, w))
		return;
	FUZZ_HOLDS(w->is_plain && w->text && *c.words[0]);
	simple_command_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *blank = memmem(data, size, "\n\n", 2);
	size_t length = blank ? (size_t)(blank - data) : size, begin = blank ? length + 2 : size;
	char *text = fuzz_text(data, length), *words[WORDS + 2] = { "bash" }, path[32];
	int script = fuzz_file(data + begin, size - begin, path);
	struct job_name *job = malloc(sizeof(*job));
	struct shell_words w;

	FUZZ_HOLDS(job);
	words[words_split(text, words + 1) + 1] = NULL;
	shell_words_parse(&w, words);
	FUZZ_HOLDS(w.nr_tags <= MAX_SPAN_TAGS && !(w.text && w.script));
	if (w.script)
		w.script = path; /* no file of the machine is opened */
	job_name_find(job, &w);
	check_name(job);
	check_command(&w);
	free(job);
	free(text);
	close(script);
	return 0;
}
