/* SPDX-License-Identifier: BSD-2-Clause */
/* Release of local variables at the end of their scope: __cleanup(fclosep) FILE *f. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define __cleanup(f) __attribute__((cleanup(cleanup_##f)))

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

#endif
