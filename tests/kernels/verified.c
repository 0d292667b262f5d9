// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads bpfmon's programs with everything switched on, a cgroup to follow included, and prints for
 * each the number of instructions that the kernel's verifier processed. Kernels before 5.16 do not
 * report it: then nothing is printed. Loads them once more with all of the kernel's types instead
 * of the small copy, and fails if an instruction differs. Usage: verified
 */
#include "measure/tracker.h"

#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void program_print(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && info.verified_insns)
		printf("%s %u\n", bpf_program__name(p), info.verified_insns);
}

#define KERNEL_HALF 0xff000000U /* least upper half of an address in the kernel */

/*
 * The descriptor of a map is another one in each load, and so is the address of the program, which
 * the verifier puts before a call that sets the callback of a timer.
 */
static bool instruction_is_of_load(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE ||
		(!i->src_reg && (__u32)i[1].imm >= KERNEL_HALF));
}

struct instructions {
	struct bpf_insn *all; /* owned */
	size_t nr;
};

/* What the kernel runs: as relocated, and rewritten by the verifier. */
static int instructions_read(const struct bpf_program *p, struct instructions *got)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	got->all = NULL;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
		return -1;
	got->nr = info.xlated_prog_len / sizeof(*got->all);
	got->all = calloc(got->nr + 1, sizeof(*got->all));
	if (!got->all)
		return -1;
	info = (struct bpf_prog_info){ .xlated_prog_len = (__u32)(got->nr * sizeof(*got->all)),
				       .xlated_prog_insns = (__u64)(uintptr_t)got->all };
	return got->nr ? bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size) : -1;
}

static bool instructions_are_alike(const struct instructions *a, const struct instructions *b)
{
	for (size_t i = 0; a->nr == b->nr && i < a->nr; i++) {
		if (instruction_is_of_load(&a->all[i]) && instruction_is_of_load(&b->all[i]))
			i++; /* it takes two places */
		else if (memcmp(&a->all[i], &b->all[i], sizeof(*a->all)) != 0)
			return false;
	}
	return a->nr == b->nr;
}

static bool programs_are_alike(const struct bpf_program *p, const struct bpf_program *q)
{
	struct instructions a = { 0 }, b = { 0 };
	bool alike = !instructions_read(p, &a) && !instructions_read(q, &b) &&
		     instructions_are_alike(&a, &b);

	free(a.all);
	free(b.all);
	return alike;
}

/* Loads with all types what @small has been loaded with the copy. How many programs differ. */
static int relocations_compare(const struct tracker *small, struct tracker_options o)
{
	struct bpf_program *p, *q;
	int differ = 0, alike = 0;
	static struct tracker full; /* too large for the stack */
	char why[5000];

	o.all_types = true;
	if (tracker_open(&full, &o, why, sizeof(why))) {
		fprintf(stderr, "(with all types: %s)\n", why);
		return -1;
	}
	bpf_object__for_each_program(p, small->skel->obj) {
		q = bpf_object__find_program_by_name(full.skel->obj, bpf_program__name(p));
		if (bpf_program__fd(p) < 0 && bpf_program__fd(q) < 0)
			continue;
		if (programs_are_alike(p, q)) {
			alike++;
			continue;
		}
		fprintf(stderr, "(%s is relocated in another way)\n", bpf_program__name(p));
		differ++;
	}
	tracker_close(&full);
	return alike ? differ : -1;
}

int main(void)
{
	struct tracker_options o = { .exact_peak = true, .can_seed = true, .can_move = true };
	static struct cgroup_target root;
	struct bpf_program *p;
	static struct tracker t;
	char why[5000];
	int differ;

	if (!cgroup_target_find("/proc/self", "/", &root, why, sizeof(why)))
		o.cgroup = &root;
	metric_set_all(&o.wanted);
	if (tracker_open(&t, &o, why, sizeof(why))) {
		fprintf(stderr, "verified: %s\n", why);
		return 1;
	}
	bpf_object__for_each_program(p, t.skel->obj)
		program_print(p);
	differ = relocations_compare(&t, o);
	tracker_close(&t);
	if (differ)
		fprintf(stderr, "(relocations differ, or cannot be compared)\n");
	return differ ? 1 : 0;
}
