/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the programs into the kernel, the optional ones where it accepts them. */
#ifndef MEASURE_PROGRAMS_H
#define MEASURE_PROGRAMS_H

#include "measure/tracker.h"

struct bpf_program;

/*
 * Opens and loads; the caller destroys *@skel. On failure a negative errno, and @why says what to
 * do about it. Optional ones that the kernel does not accept are no failure: @x says which.
 */
int programs_load(struct bpfmon **skel, const struct tracker_options *o, struct optionals *x,
		  char *why, size_t size);
/* Attaches the hooks, then makes the links of the iterators, which tracker_close() destroys. */
int programs_attach(struct tracker *t, char *why, size_t size);
/* Events for which the kernel did not run it. */
uint64_t program_misses(const struct bpf_program *prog);

#endif
