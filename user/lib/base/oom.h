/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's OOM killer: whether it has killed a process of bpfmon, by the kernel's counter for
 * the cgroup or machine, and the score that protects a process.
 */
#ifndef BASE_OOM_H
#define BASE_OOM_H

/* Notes the counter, also for children that are forked later. */
void oom_count_begin(void);
/*
 * Returns a text to append to the report of a SIGKILL; "" if the kernel does not count or
 * oom_count_begin() was not called. Valid until the next call.
 */
const char *oom_count_text(void);

/*
 * Protects this process, and what it forks later, from the OOM killer. Does nothing without
 * CAP_SYS_RESOURCE.
 */
void oom_score_protect(void);
/*
 * Opens the score of this process, to change it later without the right to open the file. Returns
 * -1 if it is not protected.
 */
int oom_score_open(void);
/* Restore the score of before oom_score_protect() for processes forked now, and protect again. */
void oom_score_unprotect(int fd);
void oom_score_protect_again(int fd);

#endif
