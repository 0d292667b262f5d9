/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A random tree of processes that logs what each of its address spaces holds for certain. An actor
 * is a process, or a thread of one; its memory is in its space, which threads and CLONE_VM children
 * share. tests/lib/torture_log.py reads the log.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include "../truth.h"
#include <stdbool.h>

#define MIB 1048576L
#define STACK_BYTES 65536
#define NR_REGIONS 64
#define NR_FAMILIES 15 /* the actions with children that play.c chooses from */

/* What a region is counted as; also its letter in the log. */
enum kind { ANON = 'a', FILES = 'f', SHMEM = 's', HUGETLB = 'h' };

struct actor {
	uint64_t process; /* its name in the log, the same for all images and threads */
	uint64_t chance;  /* the state of its random numbers */
	int64_t end_ns;   /* CLOCK_MONOTONIC: from then on it begins nothing new */
	long mib;         /* MiB that it may still touch */
	long processes;   /* the number that it may still have at once */
	long favourite;   /* the family of actions that it prefers, or -1 */
	unsigned depth;   /* the number of forks and execs above it */
	bool is_sharer;   /* a CLONE_VM child: has the thread area of its creator */
	bool may_end;     /* it may end its process while other threads of it go on */
};

/* log.c */
void log_open(void);
__attribute__((format(printf, 2, 3))) int64_t log_note(const struct actor *a, const char *fmt, ...);
uint64_t log_new_name(void);

/* chance.c */
uint64_t chance_next(struct actor *a);
long chance_between(struct actor *a, long least, long most);
bool chance_one_in(struct actor *a, long n);
void chance_pause_ms(struct actor *a, long least, long most);
bool actor_is_over(const struct actor *a);

/* space.c: the memory of this image */
void space_begin(uint64_t owner, unsigned image);
void space_names(uint64_t *owner, unsigned *image);
void space_lock(void);
void space_unlock(void);
void space_inherited(uint64_t owner);
unsigned change_begin(const struct actor *a, enum kind kind, long least, long most);
void change_end(const struct actor *a, unsigned change);
char *stack_take(const struct actor *a);
void stack_give(char *stack);

/* regions.c */
struct region *memory_grow_anon(struct actor *a, long mib);
void memory_grow(struct actor *a, long mib);
void memory_shrink(struct actor *a);
void memory_retouch(struct actor *a);
char *region_start(const struct region *r, size_t *size);
void regions_inherited(void);

/* family.c */
void find_own_path(void);
pid_t begin_child(struct actor *a, struct actor *child);
void note_reaped(const struct actor *a, pid_t pid, const struct rusage *used);
void reap_child(const struct actor *a, pid_t pid);
__attribute__((noreturn)) void end_process(const struct actor *a);
__attribute__((noreturn)) void process_exec(struct actor *a, const char *program, long arg);
pid_t begin_sharer(struct actor *a, struct actor *child, int (*run)(void *));
void vfork_small(struct actor *a);
void spawn_small(struct actor *a);

/* crowd.c: many at once, and what they do */
void crowd_burst(struct actor *a);
void crowd_sequence(struct actor *a);
void crowd_daemons(struct actor *a);
void crowd_sharers(struct actor *a);
void crowd_together(struct actor *a);
void crowd_killed_child(struct actor *a);
void crowd_idle_exits(struct actor *a);
void crowd_zombies(struct actor *a);

/* threads.c */
void threads_pool(struct actor *a);
void threads_churn(struct actor *a);
__attribute__((noreturn)) void thread_leader_exit(struct actor *a);
__attribute__((noreturn)) void thread_exec(struct actor *a);

/* gate.c: processes that wait for each other, as long as the run lasts */
struct gate {
	unsigned arrived, is_open, is_done;
};
struct gate *gate_new(void);
void gate_free(struct gate *gate);
void gate_arrive(struct gate *gate);
void gate_open(struct gate *gate);
bool gate_wait(const unsigned *value, unsigned least, const struct actor *a);

/* linger.c */
void memory_linger(struct actor *a);

/* play.c */
void actor_play_some(struct actor *a, long actions);
__attribute__((noreturn)) void actor_play(struct actor *a);
void marks_reset(const struct actor *a);

#endif
