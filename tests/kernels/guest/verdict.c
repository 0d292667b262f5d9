// SPDX-License-Identifier: BSD-2-Clause
/* Runs tests one after the other and prints the result of each. */
#include "guest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int tests_failed;

static char verdict[4096];
static enum { OK, REMARK, ABSENT, FAILED } worst;

static void verdict_add(int how, const char *format, va_list args)
{
	size_t length = strlen(verdict);

	if ((int)worst < how)
		worst = how;
	length += (size_t)snprintf(verdict + length, sizeof(verdict) - length, "%s",
				   length ? "; " : "");
	if (length < sizeof(verdict))
		vsnprintf(verdict + length, sizeof(verdict) - length, format, args);
}

#define VERDICT(name, how)                                                                         \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		verdict_add(how, format, args);                                                    \
		va_end(args);                                                                      \
	}
VERDICT(verdict_fail, FAILED)
VERDICT(verdict_absent, ABSENT)
VERDICT(verdict_remark, REMARK)

static double clock_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Prints all that may help to understand a failure. */
static void run_show(const struct run *r)
{
	char *text;
	size_t i;
	json_t *line;

	printf("  code %d, stderr: %s\n", r->code, r->messages ? r->messages : "");
	json_array_foreach(r->lines, i, line) {
		text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(15));
		printf("  %s\n", text);
		free(text);
	}
	text = json_dumps(r->truth, JSON_COMPACT);
	printf("  truth: %s\n", text ? text : "none");
	free(text);
	text = json_dumps(r->wait4, JSON_COMPACT);
	printf("  wait4: %s\n", text ? text : "none");
	free(text);
}

static void test_one(const struct test *test)
{
	static const char *const words[] = { "ok", "remark", "absent", "FAIL" };
	struct run r = { 0 };
	double start = clock_seconds();

	worst = OK;
	*verdict = '\0';
	test->run(&r);
	printf("@%s %.1f %s%s%s\n", words[worst], clock_seconds() - start, test->id,
	       *verdict ? ": " : "", verdict);
	if (worst == FAILED) {
		tests_failed++;
		run_show(&r);
	}
	run_free(&r);
}

void test_all(const struct test *tests, const char *word)
{
	for (const struct test *t = tests; t->id; t++)
		if (!word || strstr(t->id, word) || strstr(t->title, word))
			test_one(t);
}
