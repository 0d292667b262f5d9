// SPDX-License-Identifier: BSD-2-Clause
#include "store/identity.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SILENT_NS (60 * NSEC_PER_SEC) /* a recorder elsewhere counts as dead after this silence */

/* Writes the boot ID and the PID namespace, within which a PID is unique. */
static void place_read(char *out, size_t size)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[40] = "", space[64];
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	if (f && fscanf(f, "%39s", boot) != 1)
		boot[0] = '\0';
	space[n > 0 ? n : 0] = '\0';
	snprintf(out, size, "%s %s", boot, space);
}

/*
 * Returns the start time in clock ticks since boot; 0 if there is no such process, or it is a
 * zombie.
 */
static unsigned long long start_ticks(int pid)
{
	char path[40], line[1024];
	__cleanup(fclosep) FILE *f = NULL;
	unsigned long long ticks = 0;
	const char *end;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = memory_fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		return 0;
	end = strrchr(line, ')'); /* the name before it may contain anything */
	if (!end ||
	    sscanf(end + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %llu",
		   &state, &ticks) != 2 ||
	    state == 'Z')
		return 0;
	return ticks;
}

void identity_self(char out[IDENTITY_BYTES])
{
	char here[108];

	place_read(here, sizeof(here));
	snprintf(out, IDENTITY_BYTES, "%s %d %llu", here, getpid(), start_ticks(getpid()));
}

enum liveness { LIVES, IS_GONE, IS_UNKNOWN /* on another machine or in another PID namespace */ };

static enum liveness identity_lives(const char *text)
{
	char here[108], boot[40], space[64];
	unsigned long long ticks;
	int pid;
	size_t n;

	if (sscanf(text, "%39s %63s %d %llu", boot, space, &pid, &ticks) != 4)
		return IS_UNKNOWN;
	place_read(here, sizeof(here));
	n = strlen(here);
	if (strncmp(text, here, n) != 0 || text[n] != ' ')
		return IS_UNKNOWN;
	return start_ticks(pid) == ticks ? LIVES : IS_GONE;
}

bool identity_is_alive(const char *text, uint64_t seen_ns, uint64_t interval_ns)
{
	enum liveness liveness = text ? identity_lives(text) : IS_GONE;

	if (liveness != IS_UNKNOWN)
		return liveness == LIVES;
	return seen_ns + SILENT_NS + 2 * interval_ns > clock_ns(CLOCK_REALTIME);
}
