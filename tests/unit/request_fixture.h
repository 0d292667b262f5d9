/* SPDX-License-Identifier: BSD-2-Clause */
/* A request and a description whose every member has a value. */
#ifndef TESTS_UNIT_REQUEST_FIXTURE_H
#define TESTS_UNIT_REQUEST_FIXTURE_H

#include "run/description.h"
#include "run/request.h"

#include <stdio.h>
#include <string.h>

/* Of a command, with its own cgroup; the descriptors are numbers that nobody has opened. */
static inline void fixture_request(struct request *r)
{
	request_init(r);
	r->follow = FOLLOW_COMMAND;
	metric_put(&r->wanted, M_cpu);
	metric_put(&r->wanted, M_rss);
	r->interval_ns = 50000000;
	r->duration_ns = 3;
	r->named_boot_ns = 4;
	r->process_samples = 5;
	r->pss_ppm = 6;
	r->exact_peak = r->no_args = r->wait_tree = r->hides_others = r->span_samples = true;
	r->shown_to = 1000;
	r->stream_fd = 1001;
	r->marks_fd = 1002;
	r->udp_fds[0] = 1003;
	r->udp_fds[1] = 1004;
	r->cgroup_fd = 1005;
	r->pid_fds[0] = 1006;
	r->span_fd = 1007;
	r->nr_pids = 1;
}

static inline void fixture_findings(struct meta *m)
{
	*m = (struct meta){
		.system = { .cpu_model = "Analytical Engine",
			    .sockets = 1,
			    .cores = 2,
			    .threads = 4,
			    .nr_nodes = 2,
			    .nodes = { { 0, 1ULL << 33 }, { 3, 0 } },
			    .has_swap = true,
			    .has_huge_pages = true,
			    .huge_pages_bytes = 2 << 20,
			    .transparent_hugepage = "madvise",
			    .cpu_governor = "schedutil",
			    .architecture = "x86_64",
			    .os = "Debian GNU/Linux 12",
			    .machine = "QEMU",
			    .knows_virtual = true,
			    .is_virtual = true,
			    .boot_epoch_ns = 1763690000123456000ULL },
		.limits = { .cgroup = "/a/b", .cpus_allowed = "0-3,8", .mems_allowed = "0" },
		.container = { "docker", "0123456789ab", "web", "debian:12", "1-2-3" },
		.variables = { { "SLURM_JOB_ID", "42" }, { "VIRTUAL_ENV", "/v \"e\"" } },
		.nr_variables = 2,
		.git = { "0123456789012345678901234567890123456789", "main" },
	};
	limit_lower(&m->limits, LIMIT_CPU_MAX, 1500);
	limit_lower(&m->limits, LIMIT_NOFILE, 0);
}

#endif
