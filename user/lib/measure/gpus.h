/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Use of GPUs: what the reader reports, as steps from drain to drain, and the part of each tally.
 * The books have one desk; a tally takes from it the steps of its own processes.
 */
#ifndef MEASURE_GPUS_H
#define MEASURE_GPUS_H

#include "base/json.h"
#include "measure/gpu_reader.h"
#include "measure/task_rows.h"
#include "run/sample.h"

#include <jansson.h>

#define GPU_DIMENSION "gpu" /* instances of samples and summaries */

/* What a process used of a device since the drain before. */
struct gpu_step {
	uint32_t pid;
	uint32_t device; /* index in @known of the desk */
	uint64_t serial; /* of the process; 0: not tracked */
	uint32_t has;    /* GPU_BUSY, GPU_MEMORY, GPU_MEMORY_BUSY */
	uint64_t busy_ns, memory_busy_ns;
	uint64_t memory_bytes; /* now */
	uint64_t worked_ns;    /* CLOCK_MONOTONIC: it last worked, or was first seen */
};

/* A device; its counters are those of the reader, its increments since the drain before. */
struct gpu_known {
	struct gpu_device now;
	uint32_t had; /* what it ever had: a sum of counters keeps the part of one that is lost */
	bool is_there;
	uint64_t energy_uj, throttled_ns, ecc_errors, xid_errors;
};

/* All that a process has used of a device. */
struct gpu_past {
	uint64_t serial;
	uint32_t device, pid;
	uint32_t has;
	bool has_account; /* of the driver, as the process has ended */
	uint64_t busy_ns, memory_busy_ns;
	uint64_t more_busy_ns, more_memory_busy_ns; /* that only the account has */
	uint64_t memory_peak_bytes;                 /* of this device */
	uint64_t together_bytes;                    /* most on all its devices at a pass */
	uint64_t seen_ns;                           /* CLOCK_MONOTONIC of its last step */
};

struct gpu_pasts {
	struct gpu_past *all; /* owned; by serial and device */
	size_t nr, room;
	uint32_t nr_accounts; /* of those in the table that were taken */
	uint64_t forgone;     /* pasts without room */
};

/* The same of all devices. */
struct gpu_used {
	uint32_t has;
	uint64_t busy_ns, memory_busy_ns, memory_peak_bytes;
};

void gpu_pasts_done(struct gpu_pasts *p);
/* Adds a step of a process that has up to @together_bytes on its devices. */
void gpu_pasts_add(struct gpu_pasts *p, const struct gpu_step *s, uint64_t together_bytes,
		   uint64_t now_ns);
/* Adds a past that another process has made. */
void gpu_pasts_put(struct gpu_pasts *p, const struct gpu_past *past);
/* Forgets processes that were not seen for a minute. */
void gpu_pasts_prune(struct gpu_pasts *p, uint64_t now_ns);
/* Takes the driver's new accounts in @t, whose devices have the indices @known in the desk. */
void gpu_pasts_account(struct gpu_pasts *p, const struct gpu_table *t, const uint32_t *known);
/* Returns the *@nr pasts of a process. */
const struct gpu_past *gpu_pasts_find(const struct gpu_pasts *p, uint64_t serial, size_t *nr);
/* Returns false if the process has used no GPU. */
bool gpu_pasts_sum(const struct gpu_pasts *p, uint64_t serial, struct gpu_used *used);

/* The record of a process that has ended, kept until the driver's account of it has come. */
struct gpu_leaver {
	struct process_record record;
	uint64_t until_ns; /* CLOCK_MONOTONIC; then it goes without */
};
#define MAX_GPU_LEAVERS 64 /* records of further processes are not kept */

struct gpu_desk {
	struct gpu_reader *reader; /* owned; NULL: this machine has no GPU, or none is wanted */
	/* owned; the last two passes taken, or @next is being taken; NULL like @reader */
	struct gpu_table *table, *next;
	uint64_t interval_ns; /* from pass to pass */
	bool is_foreign;      /* the PIDs of drivers are of another namespace than ours */
	bool is_closed;       /* the PIDs in /proc are of another namespace than ours */
	bool is_fresh;        /* the last pass is not too old, and our PIDs are those of drivers */
	bool has_uses;        /* a device of it tells its processes */
	uint64_t step_ns;     /* from the pass before to it; 0: no new one at this drain */
	struct gpu_known known[MAX_GPUS];
	size_t nr_known;
	struct gpu_step *steps; /* owned; by PID */
	size_t nr_steps;
	struct gpu_pasts pasts;
	bool is_silent;             /* that the reader does not answer was said */
	uint64_t opened_ns;         /* CLOCK_MONOTONIC of the first drain */
	uint64_t dropped;           /* uses that found no room in a table, at each pass */
	struct gpu_leaver *leavers; /* owned */
	size_t nr_leavers;
	uint32_t *pids; /* owned; GPU_READER_PIDS of them */
};

/* Writes what processes have used, for the process that goes on with the books, into @j. */
void gpu_desk_keep_pasts(const struct gpu_desk *d, struct jsonw *j);
/* Takes it from the object @state. */
void gpu_desk_resume_pasts(struct gpu_desk *d, const json_t *state);
/* Makes a desk without a reader, whose passes come from elsewhere. Returns 0 or -ENOMEM. */
int gpu_desk_make(struct gpu_desk *d, uint64_t interval_ns);
/*
 * Starts the reader, if there is a GPU. Returns 0, or a negative errno: there are no values then.
 */
int gpu_desk_open(struct gpu_desk *d, uint64_t interval_ns);
void gpu_desk_done(struct gpu_desk *d);
/* Takes the last pass of the reader into @d->next. Returns false if it has made none since. */
bool gpu_desk_take(struct gpu_desk *d);
/*
 * A drain has ended at @now_ns (CLOCK_MONOTONIC) with @rows. With @is_new, d->next has a new pass.
 */
void gpu_desk_drain(struct gpu_desk *d, bool is_new, const struct rows *rows, uint64_t now_ns);
/*
 * Returns true if the record is to be told later, as the driver's account of the process is to
 * come: it is kept.
 */
bool gpu_desk_keep(struct gpu_desk *d, const struct process_record *r, uint64_t now_ns);
/*
 * Returns true if accounts are to come of processes that are not in @rows any more, and asks the
 * reader for them.
 */
bool gpu_desk_awaits(struct gpu_desk *d, const struct rows *rows);
/* Takes one of the kept records that is to be told now (UINT64_MAX: any). Returns false without. */
bool gpu_desk_next_leaver(struct gpu_desk *d, uint64_t now_ns, struct process_record *r);
/* Returns the index of the device in @known, MAX_GPUS if there is no room. */
uint32_t gpu_known_find(struct gpu_desk *d, const char *name);
/* Returns the first step of the process, or NULL. Those of further devices follow it. */
struct gpu_step *gpu_steps_find(const struct gpu_desk *d, uint32_t pid);
bool gpu_step_is_of(const struct gpu_desk *d, const struct gpu_step *s, uint32_t pid);
/*
 * Sets *@bytes to the memory that the process has on all devices at the last pass. Returns false if
 * that is not known.
 */
bool gpu_desk_memory(const struct gpu_desk *d, uint32_t pid, uint64_t serial, uint64_t *bytes);

/* A device that processes of a tally have or had open. */
struct gpu_held {
	uint32_t device;
	bool is_held; /* at the last drain, as the following ones */
	uint32_t has; /* of all its uses */
	uint64_t memory_bytes, worked_ns;
	uint64_t used_milli;
	/* of @used_milli: work since @given_ns, the time of the pass up to which it is known */
	uint64_t new_busy_ns, given_ns;
	uint64_t idle_to_ns; /* time of the pass up to which @idle_ns counts */
	/* counters: */
	uint64_t busy_ns, memory_busy_ns, idle_ns;
	uint64_t energy_uj, throttled_ns, ecc_errors, xid_errors;
};

struct gpu_tally {
	struct gpu_held *all; /* owned */
	size_t nr;
	bool has_all; /* the devices' own values are those of all, held or not */
};

void gpu_tally_done(struct gpu_tally *g);
/* Takes the steps of the processes of @rows. Returns 0, or -ENOMEM: a device is left out. */
int gpu_tally_drain(struct gpu_tally *g, const struct gpu_desk *d, const struct row_list *rows);
/* Returns the time that devices have worked for the processes so far. */
uint64_t gpu_tally_busy(const struct gpu_tally *g);
/*
 * Takes what the driver's account of a process that has ended adds. Returns the most memory that it
 * had on a device by that account, 0 without.
 */
uint64_t gpu_tally_end(struct gpu_tally *g, const struct gpu_desk *d, uint64_t serial);
/*
 * Sets the usable metrics in @smp, nothing if the reader does not answer. A device without work for
 * @idle_after_ns (0: never) is idle. @with_devices adds an instance for each device. Returns 0 or
 * -ENOMEM.
 */
int gpu_tally_put(const struct gpu_tally *g, const struct gpu_desk *d,
		  const struct metric_set *usable, uint64_t idle_after_ns, bool with_devices,
		  struct sample *smp);
/* Writes the counters for the process that goes on with the tally, as the member "gpus" of @j. */
void gpu_tally_keep(const struct gpu_tally *g, const struct gpu_desk *d, struct jsonw *j);
/* Takes them from the object @o. Returns 0 or -ENOMEM. */
int gpu_tally_resume(struct gpu_tally *g, struct gpu_desk *d, const json_t *o);

#endif
