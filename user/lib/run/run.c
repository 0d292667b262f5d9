// SPDX-License-Identifier: BSD-2-Clause
#include "run/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static void uuid_make(char out[37])
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		memset(b, 0, sizeof(b));
	b[6] = (b[6] & 0x0f) | 0x40; /* version 4, variant 1 */
	b[8] = (b[8] & 0x3f) | 0x80;
	snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
}

void run_describe(struct run *run)
{
	struct utsname uts;

	if (!getcwd(run->cwd, sizeof(run->cwd)))
		run->cwd[0] = '\0';
	if (!uname(&uts))
		snprintf(run->host, sizeof(run->host), "%s", uts.nodename);
}

void run_describe_machine(struct run *run)
{
	struct utsname uts;

	uuid_make(run->id);
	if (!uname(&uts))
		snprintf(run->kernel, sizeof(run->kernel), "%s %s %s", uts.sysname, uts.release,
			 uts.machine);
	run->cpus = (unsigned)get_nprocs();
	run->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
