/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration of the node agent: /etc/bpfmon/agent.conf, an INI file, and its drop-ins. The
 * rows of table.c define its keys, checks and defaults, and the sample file.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#define CONFIG_PATH "/etc/bpfmon/agent.conf"
#define CONFIG_TEXT_BYTES 200 /* limit of a line */
#define CONFIG_WORD_BYTES 32  /* limit of the kind and name of a rule */
#define CONFIG_WHY_BYTES 640  /* room for any reason of a refused file */
#define CONFIG_NO_GROUP ((gid_t)-1)

struct config_group {
	char name[CONFIG_WORD_BYTES]; /* empty if none was named */
	gid_t gid;                    /* or CONFIG_NO_GROUP */
};

struct config_address {
	char text[CONFIG_TEXT_BYTES]; /* as in the file; empty: no endpoint */
	struct sockaddr_storage address;
	socklen_t bytes; /* size of @address; 0: no endpoint */
	bool is_loopback;
};

/*
 * A rule of the administrator that says which cgroups are jobs, and of which kind (agent/rules.h).
 */
struct config_rule {
	char name[CONFIG_WORD_BYTES]; /* unique in all files */
	char kind[CONFIG_WORD_BYTES];
	char pattern[CONFIG_TEXT_BYTES];
	unsigned line; /* line of [rule NAME] in its file */
	size_t file;   /* index in the files of the configuration */
};

struct agent_config {
	char path[4096]; /* of the file, without drop-ins; empty if there was none */
	char **files;    /* owned, as the strings: paths of all files that were read, in order */
	size_t nr_files;

	/* [agent] */
	char socket[CONFIG_TEXT_BYTES];
	uint64_t interval_ns;
	struct config_group admin_group;
	struct config_group user_group; /* none: every user may connect */
	uint64_t stalled_below_ppm;     /* millionths of a CPU; a job that uses less does no work */
	uint64_t stalled_after_ns;      /* a job without work for so long is stalled; 0: never */
	char hierarchy[CONFIG_TEXT_BYTES]; /* auto, unified, or a version 1 controller */
	uint64_t max_tasks;                /* 0: by the machine's memory */
	bool net;                          /* count what sockets move */
	bool io_kinds;                     /* count reads and writes by kind of file */
	bool block_io;
	/* [limits] */
	uint64_t clients, jobs_per_user, requests_per_second;
	uint64_t queue_bytes;     /* per client */
	uint64_t user_bytes;      /* sum over all clients of a user */
	uint64_t min_interval_ns; /* shortest that a user may request */
	/* [leave]: what ordinary users may request */
	bool pss;
	/* [history] */
	char store[CONFIG_TEXT_BYTES]; /* empty: no history */
	uint64_t keep_days, keep_bytes;
	uint64_t min_ns; /* shorter jobs are not kept */
	/* [exporter] */
	struct config_address listen;
	char hosts[CONFIG_TEXT_BYTES];
	uint64_t series, keep_ns; /* the series of a job stay for @keep_ns after its end */
	char certificate[CONFIG_TEXT_BYTES], key[CONFIG_TEXT_BYTES];
	char password_file[CONFIG_TEXT_BYTES];
	/* [push] */
	char url[CONFIG_TEXT_BYTES]; /* empty: push nothing */
	char token_file[CONFIG_TEXT_BYTES], ca_file[CONFIG_TEXT_BYTES];
	char dialect[CONFIG_WORD_BYTES], metrics[CONFIG_WORD_BYTES];
	char instance[CONFIG_TEXT_BYTES]; /* empty: the host's name */
	char tags[CONFIG_TEXT_BYTES];     /* "KEY=VALUE KEY=VALUE" */
	uint64_t push_interval_ns, push_min_ns, push_series;
	char spool_folder[CONFIG_TEXT_BYTES];
	uint64_t spool_bytes;
	uint64_t catch_up; /* times the rate of new samples; 0: no limit */
	/* [rule NAME], in the order of the files */
	struct config_rule *rules; /* owned */
	size_t nr_rules;
};

/*
 * Reads the file @path, then its drop-ins, the files *.conf in @path.d in the order of their names,
 * into @c, which needs no initialization. The last file that sets a key decides; missing keys get
 * their defaults. @path may be NULL: CONFIG_PATH, which need not exist. Checks owner and mode of
 * all, and files with secrets that they name. Returns 0, or a negative errno with one sentence in
 * @why, without a full stop: "FILE:LINE: what is wrong; what is allowed" (-EINVAL). After an error
 * @c is empty; to reload, read into another struct.
 */
int config_read(const char *path, struct agent_config *c, char *why, size_t size);
/* Reads the open file @f, called @name in messages, without checking its owner and mode. */
int config_read_stream(FILE *f, const char *name, struct agent_config *c, char *why, size_t size);
/* Sets all keys to their defaults. Returns 0 or a negative errno, as above. */
int config_set_defaults(struct agent_config *c, char *why, size_t size);
/*
 * Sets the key @key of the section [push] in @c from @text. Returns 0, or a negative errno with
 * what is allowed, or what is wrong, in @why.
 */
int config_set(struct agent_config *c, const char *key, const char *text, char *why, size_t size);
void config_done(struct agent_config *c);

/* Writes a file with all keys and their defaults as comments. Errors show in ferror(@f). */
void config_print_sample(FILE *f);

#endif
