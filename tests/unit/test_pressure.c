// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's pressure information, of the whole machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/pressure.h"
#include "fixture.h"

#include <errno.h>

#define PRESSURE(some, full)                                                                       \
	"some avg10=0.00 avg60=0.00 avg300=0.00 total=" #some "\n"                                 \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=" #full "\n"

static void pressure_begins_anew(void **state)
{
	struct place *p = *state;
	struct sample s = { 0 };
	struct metric_set all;
	struct pressure pressure;

	metric_set_all(&all);
	file_write(p->path, PRESSURE(100, 10));
	assert_int_equal(pressure_open(&pressure, p->path), 0);
	file_write(p->path, PRESSURE(300, 30));
	pressure_restart(&pressure);
	file_write(p->path, PRESSURE(700, 31));
	pressure_read(&pressure, &all, M_host_memory_pressure_some, M_host_memory_pressure_full,
		      &s);
	assert_int_equal(s.value[M_host_memory_pressure_some], 400000);
	assert_int_equal(s.value[M_host_memory_pressure_full], 1000);
	pressure_done(&pressure);
}

static void pressure_that_is_not_there_is_no_pressure(void **state)
{
	struct place *p = *state;
	struct pressure pressure;

	assert_int_equal(pressure_open(&pressure, p->path), -ENOENT);
	file_write(p->path, "");
	assert_int_equal(pressure_open(&pressure, p->path), -ENODATA);
	file_write(p->path, "some avg10=0.00\n");
	assert_int_equal(pressure_open(&pressure, p->path), -EBADMSG);
	assert_int_equal(pressure.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(pressure_begins_anew),
		PLACE_TEST(pressure_that_is_not_there_is_no_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
