/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration of the node agent: /etc/bpfmon/agent.conf, an INI file. Its keys are the rows
 * of table.c, from which come parser, checks, defaults and the sample file.
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
#define CONFIG_TEXT_BYTES 200 /* no line is longer */
#define CONFIG_WORD_BYTES 32  /* the kind and name of a rule */
#define CONFIG_WHY_BYTES 640  /* room for any reason why a file is refused */
#define CONFIG_NO_GROUP ((gid_t)-1)

struct config_group {
	char name[CONFIG_WORD_BYTES]; /* empty: none was named */
	gid_t gid;                    /* CONFIG_NO_GROUP: none */
};

struct config_address {
	char text[CONFIG_TEXT_BYTES]; /* as it was given; empty: no endpoint */
	struct sockaddr_storage address;
	socklen_t bytes; /* of @address; 0: no endpoint */
	bool is_loopback;
};

/* A rule of the administrator: which cgroups are jobs, of which kind (agent/rules.h). */
struct config_rule {
	char name[CONFIG_WORD_BYTES]; /* unique in the file */
	char kind[CONFIG_WORD_BYTES];
	char pattern[CONFIG_TEXT_BYTES];
	unsigned line; /* of [rule NAME] in the file */
};

struct agent_config {
	char path[4096]; /* of the file, for messages; empty: there was none */

	/* [agent] */
	char socket[CONFIG_TEXT_BYTES];
	uint64_t interval_ns;
	struct config_group admin_group;
	struct config_group user_group;    /* none: every user may connect */
	uint64_t stalled_below_ppm;        /* millionths of a CPU: less is no work */
	uint64_t stalled_after_ns;         /* without work a job is stalled; 0: not asked for */
	char hierarchy[CONFIG_TEXT_BYTES]; /* auto, unified, or a controller of version 1 */
	uint64_t max_tasks;                /* 0: by the machine's memory */
	bool net;                          /* what sockets move is counted */
	bool io_kinds;                     /* of what kinds are files read and written */
	bool block_io;
	/* [limits] */
	uint64_t clients, jobs_per_user, requests_per_second;
	uint64_t queue_bytes;     /* of each client */
	uint64_t user_bytes;      /* of all clients of a user */
	uint64_t min_interval_ns; /* the shortest that a user may ask for */
	/* [leave] what ordinary users may ask for */
	bool pss;
	/* [history] */
	char store[CONFIG_TEXT_BYTES]; /* empty: none */
	uint64_t keep_days, keep_bytes;
	uint64_t min_ns; /* jobs that were shorter are not kept */
	/* [exporter] */
	struct config_address listen;
	char hosts[CONFIG_TEXT_BYTES];
	uint64_t series, keep_ns; /* an ended job's series stay for so long */
	char certificate[CONFIG_TEXT_BYTES], key[CONFIG_TEXT_BYTES];
	char password_file[CONFIG_TEXT_BYTES];
	/* [rule NAME], in the order of the file */
	struct config_rule *rules; /* owned */
	size_t nr_rules;
};

/*
 * Reads the file at @path into @c, which needs no initialization; keys that are not in it have
 * their defaults. @path may be NULL: CONFIG_PATH, and if there is no such file all defaults. Files
 * that are named in it for secrets are checked, too. 0; or a negative errno, and in @why one
 * sentence without a full stop, "FILE:LINE: what is wrong; what is allowed" (-EINVAL). After an
 * error @c is empty. To reload, read into another struct, and keep the old one on an error.
 */
int config_read(const char *path, struct agent_config *c, char *why, size_t size);
/* The same for an open file that is called @name in messages; its owner and mode are not checked.
 */
int config_read_stream(FILE *f, const char *name, struct agent_config *c, char *why, size_t size);
/* All keys have their defaults, as where there is no file. 0 or a negative errno, as above. */
int config_set_defaults(struct agent_config *c, char *why, size_t size);
/* Releases what @c owns. */
void config_done(struct agent_config *c);

/* Writes a file with all keys, their defaults as comments. Errors: ferror(@f). */
void config_print_sample(FILE *f);

#endif
