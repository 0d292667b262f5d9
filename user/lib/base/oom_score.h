/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the OOM killer from this process and what it forks from then on. */
#ifndef BASE_OOM_SCORE_H
#define BASE_OOM_SCORE_H

/* Does nothing without the right to it (CAP_SYS_RESOURCE). */
void oom_score_protect(void);
/* The value of this process, to be set later, when it has no right to open that file any more;
 * -1: it is not protected. */
int oom_score_open(void);
/* Sets it back to what it was before oom_score_protect(), for what is forked now; and again. */
void oom_score_unprotect(int fd);
void oom_score_protect_again(int fd);

#endif
