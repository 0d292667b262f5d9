/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest of check-kernels: runs as the first process of a machine, runs bpfmon on the truth
 * programs, and compares. */
#ifndef GUEST_H
#define GUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MIB (1LL << 20)
#define DISK "/disk"

/* One run of bpfmon, and its witnesses. */
struct run {
	pid_t pid;
	int code;        /* as in a shell: 128 + a signal */
	json_t *lines;   /* its JSON Lines, as an array */
	json_t *summary; /* one of these */
	json_t *truth;   /* what the truth program wrote; NULL: nothing */
	json_t *wait4;   /* what `witness`, its parent, wrote */
	char *messages;  /* on stderr */
};

/*
 * OPTIONS and COMMAND are words with blanks between; the first one of COMMAND names a truth
 * program. The command that bpfmon runs is `witness` with it.
 */
void run_begin(struct run *r, const char *options, const char *command);
/* The same for an attachment, without a command; returns when bpfmon has attached. */
void attach_begin(struct run *r, const char *options);
/* Becomes `witness` with COMMAND. */
__attribute__((noreturn)) void exec_witness(const char *command);
bool run_is_over(struct run *r);
void run_end(struct run *r);
void run_free(struct run *r);

/* Writes @word to a file that exists, of the kernel's. */
bool word_write(const char *path, const char *word);

json_t *run_process(const struct run *r, pid_t pid);
pid_t run_first(const struct run *r); /* the child of `witness` */

/* A number in an object; a failure, and 0, if it is absent. */
double field_real(const json_t *object, const char *key);
long long field_whole(const json_t *object, const char *key);

/* books.c */
enum { REAPED = 1, NO_THREAD_COUNT = 2 };
void check_books(struct run *r, unsigned flags);
double cpu_inside(const struct run *r); /* without `witness`, which belongs to the tree, too */
void check_complete(struct run *r);
/* Within 1 % or 10 ms. */
void check_seconds(const char *what, double measured, double witnessed);
void check_between(const char *what, double value, double low, double high);

/* taskstats.c: of this thread, as getdelays has it. False: the kernel does not say it. */
struct taskstats;
bool taskstats_read(struct taskstats *stats);

/* Verdicts on the test that is running. */
__attribute__((format(printf, 1, 2))) void verdict_fail(const char *format, ...);
__attribute__((format(printf, 1, 2))) void verdict_absent(const char *format, ...);
__attribute__((format(printf, 1, 2))) void verdict_remark(const char *format, ...);
#define expect(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			verdict_fail(__VA_ARGS__);                                                 \
	} while (0)

struct test {
	const char *id;    /* the name of its function: in tests/data/kernels */
	const char *title; /* in the table of kernels; to change it, no kernel needs to be booted */
	void (*run)(struct run *r);
};
/* clang-format off */
#define TEST(function, title) { #function, title, function }
/* clang-format on */
/* Each ends with an empty row. */
extern const struct test tree_tests[], memory_tests[], cgroup_tests[], attach_tests[],
	block_tests[], net_tests[], delay_tests[];
void test_all(const struct test *tests, const char *word);
extern int tests_failed;

#endif
