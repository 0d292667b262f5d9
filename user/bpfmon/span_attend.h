/* SPDX-License-Identifier: BSD-2-Clause */
/* The parent of a span's command, where the run cannot tell without one: it is measured without
 * BPF. */
#ifndef BPFMON_SPAN_ATTEND_H
#define BPFMON_SPAN_ATTEND_H

/*
 * Runs @command to its end. What signals this process gets, the command gets. Its status, as
 * wait(2) gives it; or a negative errno.
 */
int span_attend(char **command);
/* Executes @command in this process, of a span or of a run that is not measured. Returns only if
 * that fails, an exit status, after a line. */
int words_execute(char **command);
/* Ends this process as @status says. */
__attribute__((noreturn)) void span_end_as(int status);

#endif
