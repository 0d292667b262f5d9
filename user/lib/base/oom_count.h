/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the kernel's OOM killer has ended a process of bpfmon: what it counts of the cgroup that
 * these are in, or of the machine, before and after.
 */
#ifndef BASE_OOM_COUNT_H
#define BASE_OOM_COUNT_H

/* Counts from now on, also in children that are forked later. */
void oom_count_begin(void);
/* Of a process that SIGKILL has ended, to be put behind that: "" where the kernel does not count,
 * or oom_count_begin() was not called. In use until the next call. */
const char *oom_count_text(void);

#endif
