/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends all descendants of the launcher, without BPF: it is their subreaper then, so that /proc
 * shows who descends from it. They are stopped, pass by pass, until none is found that runs: what
 * is stopped makes no process and starts nothing anew. Then they get SIGKILL.
 */
#ifndef ROLES_SWEEP_H
#define ROLES_SWEEP_H

#include <stddef.h>

struct own_children;

/*
 * @own: the launcher's children that are spared, with all below them. Returns how many were alive
 * in the last pass: 0 when nothing is left. Takes half a second at most, and the time of two
 * passes.
 */
size_t sweep_run(const struct own_children *own);

#endif
