// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads bpfmon's programs with everything switched on, a cgroup to follow included, and prints for
 * each the number of instructions that the kernel's verifier processed. Kernels before 5.16 do not
 * report it: then nothing is printed. Loads them once more with all of the kernel's types instead
 * of the small copy, and fails if an instruction differs. Usage: verified
 */
#include "track/tracker.h"

#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

static void program_print(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && info.verified_insns)
		printf("%s %u\n", bpf_program__name(p), info.verified_insns);
}

/* A map's descriptor is another one in each load. */
static bool instruction_is_of_map(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE);
}

static bool programs_are_alike(const struct bpf_program *a, const struct bpf_program *b)
{
	const struct bpf_insn *x = bpf_program__insns(a), *y = bpf_program__insns(b);
	size_t n = bpf_program__insn_cnt(a);

	if (n != bpf_program__insn_cnt(b))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (instruction_is_of_map(&x[i]) && instruction_is_of_map(&y[i]))
			continue;
		if (memcmp(&x[i], &y[i], sizeof(*x)) != 0)
			return false;
	}
	return true;
}

/* Relocates with all types what @small has been relocated with the copy. The number that differ. */
static int relocations_compare(const struct bpfmon *small)
{
	struct bpfmon *full = bpfmon__open();
	struct bpf_program *p, *q;
	int differ = 0, alike = 0;

	if (!full)
		return -1;
	bpf_object__for_each_program(p, small->obj)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(full->obj, bpf_program__name(p)),
			bpf_program__fd(p) >= 0);
	memcpy(full->rodata, small->rodata, sizeof(*full->rodata));
	if (bpfmon__load(full)) {
		bpfmon__destroy(full);
		return -1;
	}
	bpf_object__for_each_program(p, small->obj) {
		q = bpf_object__find_program_by_name(full->obj, bpf_program__name(p));
		if (bpf_program__fd(p) < 0)
			continue;
		if (programs_are_alike(p, q)) {
			alike++;
			continue;
		}
		fprintf(stderr, "(%s is relocated in another way)\n", bpf_program__name(p));
		differ++;
	}
	bpfmon__destroy(full);
	return alike ? differ : -1;
}

int main(void)
{
	struct tracker_options o = { .exact_peak = true, .can_seed = true };
	static struct cgroup_target root;
	struct bpf_program *p;
	struct tracker t;
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
	differ = relocations_compare(t.skel);
	tracker_close(&t);
	if (differ)
		fprintf(stderr, "(relocations differ, or cannot be compared)\n");
	return differ ? 1 : 0;
}
