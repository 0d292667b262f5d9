/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of rules share: paths of cgroups, and the jobs that each is to be in. */
#ifndef TESTS_UNIT_RULES_FIXTURE_H
#define TESTS_UNIT_RULES_FIXTURE_H

#include "agent/rules.h"

#include <stdio.h>
#include <string.h>

#define H1 "8a5f2c1e9b3d4f6071829304a5b6c7d8e9f00112233445566778899aabbccdde"
#define H2 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "2d3f4a5b-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
#define POD_ "2d3f4a5b_1c2d_4e5f_8a9b_0c1d2e3f4a5b"
#define U "/user.slice/user-1000.slice"
#define IN_U "user/1000@2:1000 "
#define M U "/user@1000.service"
#define IN_M IN_U "manager/1000@3:1000 "

struct known {
	const char *path;
	const char *jobs; /* ID@DEPTH, and :UID where the path names one, the outermost first */
};

static inline struct rules *rules_of(const struct agent_config *c)
{
	struct rules *rules;
	char why[CONFIG_WHY_BYTES] = "";

	assert_int_equal(rules_open(c, &rules, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	return rules;
}

static inline void jobs_print(char *out, size_t room, const struct rules_job *jobs, size_t nr)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(strncmp(jobs[i].id, jobs[i].kind, strlen(jobs[i].kind)), 0);
		used += (size_t)snprintf(out + used, room - used, "%s%s@%u", i ? " " : "",
					 jobs[i].id, jobs[i].depth);
		if (jobs[i].uid >= 0)
			used += (size_t)snprintf(out + used, room - used, ":%lld",
						 (long long)jobs[i].uid);
		assert_true(used < room);
	}
}

static inline void assert_jobs(const struct rules *rules, const struct known *known, size_t nr)
{
	struct rules_job jobs[RULES_JOBS];
	char found[RULES_JOBS * (RULES_ID_BYTES + 32)];

	for (size_t i = 0; i < nr; i++) {
		jobs_print(found, sizeof(found), jobs, rules_find(rules, known[i].path, jobs));
		if (strcmp(found, known[i].jobs) != 0)
			print_error("%s\n", known[i].path);
		assert_string_equal(found, known[i].jobs);
	}
}

#endif
