/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands: one file each. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#define EXIT_BPFMON 125 /* bpfmon failed where a command was to run */
#define EXIT_USAGE 2    /* any other subcommand: usage, not found, not permitted */

/* Each gets its own name as argv[0] and returns the exit status. */
int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_store(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_report(int argc, char **argv);

#endif
