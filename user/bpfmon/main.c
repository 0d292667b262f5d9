// SPDX-License-Identifier: BSD-2-Clause
/* main(): dispatches to the subcommands, with the rights that each needs. */
#include "bpfmon/subcommands.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "base/stack.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Output that lacks something because an allocation failed is never a success. */
static int status_after_memory(int status)
{
	if (!memory_has_failed())
		return status;
	if (log_has_unreported_failure())
		log_error("out of memory; the output may be incomplete");
	return EXIT_USAGE;
}

/* Flushes stdout. Returns @status, or @failed after a message if it could not be written. */
static int output_finish(int status, int failed)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log_error("cannot write to stdout");
	return failed;
}

static int main_run(int argc, char **argv)
{
	const struct subcommand *sub;
	int err = memory_init();

	if (err) {
		log_error("cannot monitor memory allocations: %s", strerror(-err));
		return EXIT_BPFMON;
	}
	if (user_borrows_rights())
		privilege_protect();
	sub = argc > 1 ? subcommand_find(argv[1]) : NULL;
	if (!sub)
		return output_finish(subcommand_run.run(argc, argv), EXIT_BPFMON);
	memory_exit_on_failure(!sub->is_role);
	/* only loading programs needs the capabilities that bpfmon's file may have */
	if (sub->becomes_command && user_borrows_rights())
		privilege_drop_all();
	else if (!sub->loads_programs && !sub->becomes_command && geteuid())
		privilege_keep(0);
	return status_after_memory(output_finish(sub->run(argc - 1, argv + 1), EXIT_USAGE));
}

#define LENDING_FILE "../libexec/bpfmon/bpfmon"

/*
 * Executes the copy of this program that install-caps gives file capabilities and permits to
 * a group, where programs may have to be loaded and this process may not. Returns if there is none,
 * or if the caller may not execute it. Neither file nor caller has more rights by this exec than by
 * any other.
 */
static void lending_file_execute(int argc, char **argv)
{
	const struct subcommand *sub = argc > 1 ? subcommand_find(argv[1]) : NULL;
	const uint64_t needed = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	char self[PATH_MAX], path[PATH_MAX + sizeof(LENDING_FILE)];
	struct stat this, that;
	const char *slash;
	ssize_t n;

	if ((sub && !sub->loads_programs) || !geteuid() || user_rights_are_lent() ||
	    privilege_has(needed))
		return;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	snprintf(path, sizeof(path), "%.*s/" LENDING_FILE, (int)(slash - self), self);
	/* links in folders of a user could make that file this one */
	if (stat("/proc/self/exe", &this) || stat(path, &that) ||
	    (this.st_dev == that.st_dev && this.st_ino == that.st_ino))
		return;
	execv(path, argv);
}

int main(int argc, char **argv)
{
	lending_file_execute(argc, argv); /* first: it inherits the limits of the caller */
	if (!stack_raise_limit()) {
		log_error("the stack limit is below 256 KiB; raise the hard limit (ulimit -Hs)");
		return EXIT_BPFMON;
	}
	return main_run(argc, argv);
}
