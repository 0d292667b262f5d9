// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads bpfmon's programs with everything switched on, a cgroup to follow included, and prints for
 * each the number of instructions that the kernel's verifier processed. Kernels before 5.16 do not
 * report it: then nothing is printed. Usage: verified
 */
#include "track/tracker.h"

#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <stdio.h>

static void program_print(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && info.verified_insns)
		printf("%s %u\n", bpf_program__name(p), info.verified_insns);
}

int main(void)
{
	struct tracker_options o = { .exact_peak = true, .can_seed = true };
	static struct cgroup_target root;
	struct bpf_program *p;
	struct tracker t;
	char why[5000];

	if (!cgroup_target_find("/proc/self", "/", &root, why, sizeof(why)))
		o.cgroup = &root;
	metric_set_all(&o.wanted);
	if (tracker_open(&t, &o, why, sizeof(why))) {
		fprintf(stderr, "verified: %s\n", why);
		return 1;
	}
	bpf_object__for_each_program(p, t.skel->obj)
		program_print(p);
	tracker_close(&t);
	return 0;
}
