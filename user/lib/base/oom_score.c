// SPDX-License-Identifier: BSD-2-Clause
#include "base/oom_score.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "/proc/self/oom_score_adj";
/* not less: with memory.oom.group the kernel spares no process with a larger one */
static const char protected[] = "-1000";
static char before[8]; /* empty: it is not protected */

static void score_write(int fd, const char *value)
{
	if (fd >= 0 && pwrite(fd, value, strlen(value), 0) < 0)
		return; /* it is as likely to be killed as the others */
}

void oom_score_protect(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, before, sizeof(before) - 1) : -1;

	before[n > 0 ? n : 0] = '\0';
	if (n > 0 && pwrite(fd, protected, strlen(protected), 0) < 0)
		before[0] = '\0';
	if (fd >= 0)
		close(fd);
}

int oom_score_open(void)
{
	return before[0] ? open(path, O_WRONLY | O_CLOEXEC) : -1;
}

void oom_score_unprotect(int fd)
{
	score_write(fd, before);
}

void oom_score_protect_again(int fd)
{
	score_write(fd, protected);
}
