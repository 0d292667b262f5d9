// SPDX-License-Identifier: BSD-2-Clause
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 48
#define OUT "/tmp/run.jsonl"
#define MESSAGES "/tmp/stderr"
#define TRUTH "/tmp/truth.json"
#define WAIT4 "/tmp/wait4.json"

static char *text_read(const char *path)
{
	FILE *f = fopen(path, "re"), *memory;
	char *text = NULL;
	size_t size;
	int c;

	memory = open_memstream(&text, &size);
	while (f && (c = getc(f)) != EOF)
		putc(c, memory);
	if (f)
		fclose(f);
	fclose(memory);
	return text;
}

static size_t words_add(char **words, size_t n, char *text)
{
	char *rest = NULL;

	for (char *w = strtok_r(text, " ", &rest); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " ", &rest))
		words[n++] = w;
	return n;
}

/* Executes @before, followed by @command, which begins with the name of a truth program. */
__attribute__((noreturn)) static void exec_words(char *before, const char *command)
{
	char path[64], words[256], *argv[MAX_WORDS + 1];
	size_t n, first;

	snprintf(words, sizeof(words), "%s", command);
	first = n = words_add(argv, 0, before);
	n = words_add(argv, n, words);
	argv[n] = NULL;
	if (n > first) {
		snprintf(path, sizeof(path), "/truth/%s", argv[first]);
		argv[first] = path;
	}
	setenv("TRUTH_OUT", TRUTH, 1);
	execv(argv[0], argv);
	_exit(99);
}

void exec_witness(const char *command)
{
	char before[] = "/truth/witness " WAIT4;

	exec_words(before, command);
}

static void run_begin_words(struct run *r, char *before, const char *command)
{
	run_free(r);
	unlink(OUT);
	unlink(TRUTH);
	unlink(WAIT4);
	fflush(stdout);
	r->pid = fork();
	if (!r->pid) {
		dup2(open(MESSAGES, O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
		exec_words(before, command);
	}
}

void run_begin(struct run *r, const char *options, const char *command)
{
	char before[256];

	snprintf(before, sizeof(before), "/bpfmon --force -o " OUT " %s -- /truth/witness " WAIT4,
		 options);
	run_begin_words(r, before, command);
}

void attach_begin(struct run *r, const char *options)
{
	char before[256], *messages = NULL;

	unlink(MESSAGES);
	snprintf(before, sizeof(before), "/bpfmon attach -v --force -o " OUT " %s", options);
	run_begin_words(r, before, "");
	do {
		free(messages);
		usleep(20000);
		messages = text_read(MESSAGES);
	} while (!strstr(messages, "loaded and attached") && !run_is_over(r));
	free(messages);
}

static void run_ended(struct run *r, int status)
{
	r->pid = 0;
	r->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool run_is_over(struct run *r)
{
	int status;

	if (r->pid && waitpid(r->pid, &status, WNOHANG) == r->pid)
		run_ended(r, status);
	return !r->pid;
}

static json_t *lines_read(const char *path)
{
	char *text = text_read(path), *rest = NULL;
	json_t *lines = json_array();

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, json_loads(line, 0, NULL));
	free(text);
	return lines;
}

void run_end(struct run *r)
{
	json_t *line;
	size_t i;
	int status;

	if (r->pid && waitpid(r->pid, &status, 0) == r->pid)
		run_ended(r, status);
	r->lines = lines_read(OUT);
	json_array_foreach(r->lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "kind")), "summary"))
			r->summary = line;
	r->truth = json_load_file(TRUTH, 0, NULL);
	r->wait4 = json_load_file(WAIT4, 0, NULL);
	r->messages = text_read(MESSAGES);
	expect(r->summary, "bpfmon ended with %d and without a summary", r->code);
}

void run_free(struct run *r)
{
	json_decref(r->lines);
	json_decref(r->truth);
	json_decref(r->wait4);
	free(r->messages);
	*r = (struct run){ 0 };
}

bool word_write(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word);

	if (fd >= 0)
		close(fd);
	return is_written;
}

json_t *run_process(const struct run *r, pid_t pid)
{
	json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "kind")), "process") &&
		    json_integer_value(json_object_get(line, "pid")) == pid)
			return line;
	verdict_fail("process %d has no record", pid);
	return NULL;
}

pid_t run_first(const struct run *r)
{
	return (pid_t)field_whole(r->wait4, "pid");
}

double field_real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	expect(json_is_number(value), "there is no %s", key);
	return json_number_value(value);
}

long long field_whole(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	expect(json_is_integer(value), "there is no %s", key);
	return json_integer_value(value);
}
