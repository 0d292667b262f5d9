/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's OOM killer: whether it has ended a process of bpfmon, by the kernel's counter for
 * the cgroup or the machine before and after, and the score that protects a process from it.
 */
#ifndef BASE_OOM_H
#define BASE_OOM_H

/* Counts from now on, also in children that are forked later. */
void oom_count_begin(void);
/* Of a process that SIGKILL has ended, to be put behind that: "" where the kernel does not count,
 * or oom_count_begin() was not called. In use until the next call. */
const char *oom_count_text(void);

/* Keeps the OOM killer from this process and what it forks from then on. */

/* Does nothing without the right to it (CAP_SYS_RESOURCE). */
void oom_score_protect(void);
/* The value of this process, to be set later, when it has no right to open that file any more;
 * -1: it is not protected. */
int oom_score_open(void);
/* Sets it back to what it was before oom_score_protect(), for what is forked now; and again. */
void oom_score_unprotect(int fd);
void oom_score_protect_again(int fd);

#endif
