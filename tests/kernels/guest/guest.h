/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest of check-kernels: boots as the first process, runs bpfmon on the truth programs,
 * compares. */
#ifndef GUEST_H
#define GUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MIB (1LL << 20)
#define DISK "/disk"

/* One run of bpfmon, and what the witnesses say of the same. */
struct run {
	pid_t pid;
	int code;        /* as a shell tells it: 128 + a signal */
	json_t *lines;   /* its JSON Lines, as an array */
	json_t *summary; /* one of these */
	json_t *truth;   /* the truth program's own words; NULL where it had none */
	json_t *wait4;   /* those of `witness`, its parent */
	char *said;      /* on stderr */
};

/*
 * OPTIONS and COMMAND are words with blanks between; the first of COMMAND names a truth program,
 * the command that bpfmon gets is `witness` with it.
 */
void run_begin(struct run *r, const char *options, const char *command);
/* The same of an attachment, with no command; returns when what is there is followed. */
void attach_begin(struct run *r, const char *options);
/* Becomes `witness` with COMMAND. */
__attribute__((noreturn)) void exec_witness(const char *command);
bool run_is_over(struct run *r);
void run_end(struct run *r);
void run_free(struct run *r);

json_t *run_process(const struct run *r, pid_t pid);
pid_t run_first(const struct run *r); /* the child of `witness` */

/* Numbers of an object; absent is a failure, and 0. */
double real(const json_t *object, const char *key);
long long whole(const json_t *object, const char *key);

/* books.c */
enum { REAPED = 1, NO_THREAD_COUNT = 2 };
void check_books(struct run *r, unsigned flags);
double cpu_inside(const struct run *r); /* without the witness, which is of the tree, too */
void check_complete(struct run *r);
/* Within 1 % or 10 ms. */
void check_seconds(const char *what, double measured, double witnessed);
void check_between(const char *what, double value, double low, double high);

/* Verdicts on the case that is running. */
__attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
__attribute__((format(printf, 1, 2))) void absent(const char *format, ...);
__attribute__((format(printf, 1, 2))) void remark(const char *format, ...);
#define expect(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail(__VA_ARGS__);                                                         \
	} while (0)

struct test {
	const char *name;
	void (*run)(struct run *r);
};
/* end with no name */
extern const struct test tree_tests[], memory_tests[], cgroup_tests[], attach_tests[];
void test_all(const struct test *tests, const char *word);
extern int tests_failed;

#endif
