// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's types as bpfmon reads them, compared with how libbpf reads them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/kernel_btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#define NEEDS_TYPES()                                                                              \
	do {                                                                                       \
		if (access("/sys/kernel/btf/vmlinux", R_OK)) {                                     \
			print_message("skipped: the kernel has no BTF\n");                         \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static struct kernel_type wanted[] = {
	{ "btf_trace_task_newtask", BTF_KIND_TYPEDEF, 0 },
	{ "bpf_iter_task", BTF_KIND_FUNC, 0 },
	{ "task_struct", BTF_KIND_STRUCT, 0 },
	{ "cgroup_subsys_id", BTF_KIND_ENUM, 0 },
};

#define NR_WANTED (sizeof(wanted) / sizeof(*wanted))

static void types_have_the_numbers_that_libbpf_finds(void **state)
{
	struct kernel_btf k;
	struct btf *all;

	(void)state;
	NEEDS_TYPES();
	all = btf__load_vmlinux_btf();
	assert_int_equal(libbpf_get_error(all), 0);
	assert_int_equal(kernel_btf_open(&k), 0);
	kernel_btf_find(&k, wanted, NR_WANTED);
	for (size_t i = 0; i < NR_WANTED; i++)
		assert_int_equal(wanted[i].id,
				 btf__find_by_name_kind(all, wanted[i].name, wanted[i].kind));
	assert_int_equal(k.nr_types, btf__type_cnt(all));
	kernel_btf_close(&k);
	btf__free(all);
}

static void a_type_that_the_kernel_does_not_have_has_no_number(void **state)
{
	struct kernel_type absent[] = {
		{ "btf_trace_bpfmon_of_no_kernel", BTF_KIND_TYPEDEF, 1 },
		{ "task_struct", BTF_KIND_ENUM, 1 }, /* it is a struct */
	};
	struct kernel_btf k;

	(void)state;
	NEEDS_TYPES();
	assert_int_equal(kernel_btf_open(&k), 0);
	kernel_btf_find(&k, absent, 2);
	assert_int_equal(absent[0].id, 0);
	assert_int_equal(absent[1].id, 0);
	kernel_btf_close(&k);
}

static void an_enumerator_has_its_value_and_that_of_no_kernel_none(void **state)
{
	struct kernel_btf k;

	(void)state;
	NEEDS_TYPES();
	assert_int_equal(kernel_btf_open(&k), 0);
	assert_int_equal(kernel_btf_enumerator(&k, "BPF_PROG_TYPE_KPROBE"), BPF_PROG_TYPE_KPROBE);
	assert_int_equal(kernel_btf_enumerator(&k, "BPF_EXIST"),
			 BPF_EXIST); /* its enumeration has no name */
	assert_int_equal(kernel_btf_enumerator(&k, "BPFMON_OF_NO_KERNEL"), -ENOENT);
	kernel_btf_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_have_the_numbers_that_libbpf_finds),
		cmocka_unit_test(a_type_that_the_kernel_does_not_have_has_no_number),
		cmocka_unit_test(an_enumerator_has_its_value_and_that_of_no_kernel_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
