// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_line(const char *text, const char *name, uint64_t *total_us)
{
	const char *line = strstr(text, name), *total = line ? strstr(line, "total=") : NULL;

	return total && sscanf(total, "total=%" SCNu64, total_us) == 1 ? 0 : -EBADMSG;
}

static int read_now(struct pressure *p)
{
	char text[256];
	ssize_t n = pread(p->fd, text, sizeof(text) - 1, 0);
	uint64_t some_us, full_us;

	if (n <= 0)
		return n ? -errno : -ENODATA;
	text[n] = '\0';
	if (read_line(text, "some ", &some_us) || read_line(text, "full ", &full_us))
		return -EBADMSG;
	p->some_us = some_us;
	p->full_us = full_us;
	return 0;
}

int pressure_open(struct pressure *p, const char *path)
{
	int err;

	*p = (struct pressure){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (p->fd < 0)
		return -errno;
	err = read_now(p);
	if (err) {
		pressure_done(p);
		return err;
	}
	p->some_0_us = p->some_us;
	p->full_0_us = p->full_us;
	return 0;
}

void pressure_restart(struct pressure *p)
{
	if (p->fd < 0 || read_now(p))
		return;
	p->some_0_us = p->some_us;
	p->full_0_us = p->full_us;
}

void pressure_read(struct pressure *p, const struct metric_set *usable, enum metric_id some,
		   enum metric_id full, struct sample *smp)
{
	if (p->fd < 0 || read_now(p))
		return;
	if (metric_has(usable, some))
		sample_set(smp, some, (p->some_us - p->some_0_us) * 1000);
	if (metric_has(usable, full))
		sample_set(smp, full, (p->full_us - p->full_0_us) * 1000);
}

void pressure_done(struct pressure *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}
