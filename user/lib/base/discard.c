// SPDX-License-Identifier: BSD-2-Clause
#include "base/discard.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* How many descriptors wait in the queue of a socket that receives nothing any more: none comes
 * then. */
static unsigned rights_count(int fd)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[64], line[128];
	unsigned nr;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "scm_fds: %u", &nr) == 1)
			return nr;
	return !f; /* unknown; or it is no Unix socket */
}

void socket_close_plain(int fd)
{
	char ignored[4096];

	shutdown(fd, SHUT_RDWR);
	/* else its other end might miss what it was sent last */
	while (recv(fd, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

/* Without memory it stays open, too. */
static void discard_keep(struct discard *d, int fd)
{
	size_t room = d->room ? d->room * 2 : DISCARDS_KEPT;
	int *kept = d->nr < d->room ? d->kept : reallocarray(d->kept, room, sizeof(*kept));

	if (!kept)
		return;
	if (d->nr == d->room)
		d->room = room;
	d->kept = kept;
	d->kept[d->nr++] = fd;
}

void socket_discard(struct discard *d, int fd)
{
	shutdown(fd, SHUT_RDWR);
	if (!rights_count(fd)) {
		socket_close_plain(fd);
	} else if (!d->hand_over || !d->hand_over(d->context, fd)) {
		discard_keep(d, fd);
	}
}

void descriptor_discard(struct discard *d, int fd)
{
	if (!d->hand_over)
		close(fd); /* all senders are trusted */
	else if (!d->hand_over(d->context, fd))
		discard_keep(d, fd);
}

void discards_attend(struct discard *d)
{
	while (d->nr && d->hand_over && d->hand_over(d->context, d->kept[d->nr - 1]))
		d->nr--;
}

void discards_done(struct discard *d)
{
	free(d->kept);
	d->kept = NULL;
	d->nr = d->room = 0;
}
