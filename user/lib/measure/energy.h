/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Energy of the machine, from the counters of its processors (powercap: RAPL) and of other sensors
 * (hwmon). Without them, as in a virtual machine, there is no energy: none is estimated from a
 * model.
 */
#ifndef MEASURE_ENERGY_H
#define MEASURE_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_ENERGY_DOMAINS 64

struct energy_domain {
	/* unique: "package-0", "package-0-dram", "psys", or of hwmon "amd_energy-Esocket0" */
	char name[48];
	int fd;            /* owned */
	bool is_summed;    /* part of the sum; false for one that is contained in others or contains
			      them */
	bool is_lost;      /* the last read failed */
	bool has_last;     /* last_uj is set */
	uint64_t range_uj; /* the counter begins again at 0 after this value; 0: unknown or never */
	uint64_t last_uj;  /* value of the counter when it was last read */
	uint64_t used_uj;  /* counter: since energy_open() */
};

struct energy {
	struct energy_domain domains[MAX_ENERGY_DOMAINS];
	size_t nr;
	size_t nr_left_out; /* domains outside the sum that found no room */
	bool has_sum;       /* a domain is in the sum; else the energy of the machine is unknown */
	uint64_t used_uj;   /* counter: sum of the domains with is_summed */
};

/*
 * Opens the counters below @sys ("/sys") and begins to count. The kernel checks the rights, which
 * only root has, when a counter is opened: energy_read() needs none. Returns 0, or a negative errno
 * with @why, a clause without a full stop, and nothing open: -ENOENT if the machine has no counter,
 * -EACCES if the caller may not read one that belongs to the sum.
 */
int energy_open(struct energy *e, const char *sys, char *why, size_t size);
/*
 * Reads all counters. It is to be called more often than one wraps: those of RAPL hold 65 to 262
 * kJ, which a socket may spend in less than 3 minutes. A counter that cannot be read is lost until
 * it can; what it has counted meanwhile is added then. One that falls without a range, as after a
 * suspension of the machine, counts from its new value.
 */
void energy_read(struct energy *e);
void energy_done(struct energy *e);

/*
 * The share of @spent_uj by CPU time: @cpu_ns of @whole_ns, which is all CPUs times the time
 * elapsed. Rounded down, at most @spent_uj; the rest stays unapportioned. Shares of CPU times that
 * add up to @whole_ns or less add up to @spent_uj or less.
 */
uint64_t energy_share(uint64_t spent_uj, uint64_t cpu_ns, uint64_t whole_ns);

#endif
