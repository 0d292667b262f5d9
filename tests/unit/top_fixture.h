/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a run for the tests of top. */
#ifndef TESTS_UNIT_TOP_FIXTURE_H
#define TESTS_UNIT_TOP_FIXTURE_H

#include "fixture.h"

#include "top/scene.h"

#include <stdarg.h>

#define START_S 1763690000ULL

static struct line fixture_line;

__attribute__((format(printf, 2, 3))) static inline void take(struct model *m, const char *format,
							      ...)
{
	char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	assert_int_equal(line_read_quick(&fixture_line, text, strlen(text)), 0);
	assert_int_equal(model_take(m, &fixture_line), 0);
}

static inline void take_meta(struct model *m)
{
	model_init(m);
	take(m,
	     "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"name\":\"test\",\"host\":\"node\","
	     "\"start_time\":%llu,\"interval_seconds\":1}",
	     START_S);
}

static inline void take_sample(struct model *m, int second, double cpu, int processes)
{
	take(m,
	     "{\"kind\":\"sample\",\"elapsed_seconds\":%d,\"cpu_seconds\":%.9f,"
	     "\"processes\":%d}",
	     second, cpu, processes);
}

/* A live process that began @start seconds after the run. */
static inline void take_live(struct model *m, int second, int pid, int ppid, int start, double cpu)
{
	take(m,
	     "{\"kind\":\"process_sample\",\"elapsed_seconds\":%d,\"pid\":%d,\"comm\":\"p%d\","
	     "\"start_time\":%llu,\"ppid\":%d,\"uid\":0,\"cpu_seconds\":%.9f,\"rss_bytes\":4096}",
	     second, pid, pid, START_S + (unsigned)start, ppid, cpu);
}

static inline void take_record(struct model *m, int pid, int ppid, int start, int end, double cpu)
{
	take(m,
	     "{\"kind\":\"process\",\"pid\":%d,\"ns_pid\":%d,\"ppid\":%d,\"uid\":0,\"comm\":"
	     "\"p%d\",\"exe\":\"/bin/p\",\"start_time\":%llu,\"end_time\":%llu,\"exit_code\":0,"
	     "\"signal\":null,\"threads_total\":1,\"execs\":1,\"cpu_seconds\":%.9f,"
	     "\"minflt\":%d,\"read_bytes\":%d}",
	     pid, pid, ppid, pid, START_S + (unsigned)start, START_S + (unsigned)end, cpu, pid,
	     2 * pid);
}

/* The scene of that second; the actor of @pid there, NULL: none. */
static inline const struct actor *scene_actor(struct scene *s, struct model *m, int second, int pid)
{
	assert_int_equal(scene_build(s, m, second * 1000000000LL), 0);
	for (size_t i = 0; i < s->nr_actors; i++)
		if (m->tasks[s->actors[i].task].pid == pid)
			return &s->actors[i];
	return NULL;
}

#endif
