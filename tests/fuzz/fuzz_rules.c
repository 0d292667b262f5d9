// SPDX-License-Identifier: BSD-2-Clause
/* The agent's configuration with its rules, and paths of cgroups, which users name: the first line
 * is a path, what follows it the file. */
#include "fuzz.h"

#include "agent/rules.h"
#include "config/config.h"
#include "config/user_files.h"

#include <errno.h>

/* In the place of the one that opens files. */
int secret_open(const char *path, char *why, size_t size)
{
	snprintf(why, size, "cannot open %s", path);
	return -ENOENT;
}

static void jobs_check(const struct rules *rules, const char *path)
{
	struct rules_job jobs[RULES_JOBS];
	size_t nr = rules_find(rules, path, jobs);

	FUZZ_HOLDS(nr <= RULES_JOBS);
	for (size_t i = 0; i < nr; i++) {
		FUZZ_HOLDS(!strncmp(jobs[i].id, jobs[i].kind, strlen(jobs[i].kind)));
		FUZZ_HOLDS(strlen(jobs[i].id) < sizeof(jobs[i].id) && *jobs[i].kind);
		FUZZ_HOLDS(jobs[i].depth > (i ? jobs[i - 1].depth : 0));
		FUZZ_HOLDS(jobs[i].uid >= -1 && jobs[i].uid < UINT32_MAX);
		fuzz_is_inert(jobs[i].id, strlen(jobs[i].id));
		fuzz_is_inert(jobs[i].name, strlen(jobs[i].name));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : size;
	char *path = fuzz_text(data, length), why[CONFIG_WHY_BYTES] = "", name[32];
	struct agent_config c;
	struct rules *rules;
	int fd = fuzz_file(data + length + (end ? 1 : 0), size - length - (end ? 1 : 0), name), err;
	FILE *f = fdopen(fd, "r");

	FUZZ_HOLDS(f);
	rewind(f);
	err = config_read_stream(f, "agent.conf", &c, why, sizeof(why));
	fclose(f);
	FUZZ_HOLDS(!err == !*why);
	fuzz_is_inert(why, strlen(why));
	if (err)
		memset(&c, 0, sizeof(c));
	err = rules_open(&c, &rules, why, sizeof(why));
	FUZZ_HOLDS(!err || err == -EINVAL);
	if (!err)
		jobs_check(rules, path);
	rules_close(err ? NULL : rules);
	config_done(&c);
	free(path);
	return 0;
}
