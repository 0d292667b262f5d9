/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the BPF programs, including the optional ones that the kernel accepts. */
#ifndef MEASURE_PROGRAMS_H
#define MEASURE_PROGRAMS_H

#include "measure/tracker.h"

struct bpf_program;

/*
 * Opens and loads the skeleton, which the caller destroys, or takes maps and programs over from
 * @o->kept. Returns 0, -ESTALE if these differ, or another negative errno with advice in @why.
 * Refused optional programs are no error: @x has the reasons.
 */
int programs_load(struct bpfmon **skel, const struct tracker_options *o, struct optionals *x,
		  char *why, size_t size);
/* Attaches the hooks. Returns 0, or a negative errno with @why. */
int programs_attach(const struct tracker *t, char *why, size_t size);
/* Creates the iterator links, which tracker_close() destroys. Returns as above. */
int programs_attach_iterators(struct tracker *t, char *why, size_t size);
/* Returns the number of events at which the kernel skipped the program. */
uint64_t program_misses(const struct bpf_program *prog);

#endif
