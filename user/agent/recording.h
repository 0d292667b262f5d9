/* SPDX-License-Identifier: BSD-2-Clause */
/* The process of the historian that writes: it reads the stream of the node to its end. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include "agent/history.h"

#include <stdbool.h>

/*
 * @is_again: another process had this task before, and the agent is asked to describe all jobs
 * anew. 0 at the end of the stream, or a negative errno, which has been reported.
 */
int recording_run(const struct history_options *o, int stream_fd, int control_fd, bool is_again);

#endif
