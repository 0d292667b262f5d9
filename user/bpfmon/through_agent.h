/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a run or an attachment goes through the agent of the node. */
#ifndef BPFMON_THROUGH_AGENT_H
#define BPFMON_THROUGH_AGENT_H

#include "bpfmon/recording_options.h"
#include "bpfmon/roles/launcher.h"

/*
 * Connects l->agent_fd to the agent, if @o asks for it, or if this process may not load programs
 * and there is an agent; else it is -1. @needs_root: an option that an agent does not offer, such
 * as "--own-cgroup"; NULL: none was given. @may_fall_back: where neither may be used, @l gets what
 * @o wants then: a collector that reads /proc, or nothing measured. A negative errno after one line
 * to the user.
 */
int agent_choose(struct launch_options *l, const struct recording_options *o,
		 const char *needs_root, bool may_fall_back);

#endif
