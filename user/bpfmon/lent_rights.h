/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File capabilities lend rights to every user who may execute the file: they are for the processes
 * of that user only, and not for what slows down those of others.
 */
#ifndef BPFMON_LENT_RIGHTS_H
#define BPFMON_LENT_RIGHTS_H

#include "bpfmon/cmd_attach.h"
#include "bpfmon/cmd_run.h"

/*
 * 0: the rights are the caller's own (root, sudo, ambient capabilities), or what is asked for may
 * be done with lent ones. -EPERM after one line to the user.
 */
int lent_rights_check_run(const struct run_options *o);
/* The same, of the options; */
int lent_rights_check_attach(const struct attach_options *o);
/* and of the processes that @o names, which were there just now. */
int lent_rights_check_processes(const struct attach_options *o);

#endif
