// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/top_command.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "options/common_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void top_command_add(struct top_command *c, const char *word)
{
	if (c->nr < TOP_WORDS)
		c->words[c->nr++] = word;
}

/* In a checkout it is beside bpfmon, installed in libexec. */
int top_command_execute(struct top_command *c)
{
	static const char *const places[] = { "bpfmon-top", "../libexec/bpfmon/bpfmon-top" };
	char program[PATH_MAX - 64], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, places[i]);
		execv(path, (char *const *)c->words);
		if (errno != ENOENT)
			break;
	}
	log_error("cannot execute bpfmon-top, which belongs beside bpfmon or into "
		  "../libexec/bpfmon: %s",
		  strerror(errno));
	return EXIT_USAGE;
}
