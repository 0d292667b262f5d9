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
	bool is_there;
	uint64_t energy_uj, throttled_ns, ecc_errors, xid_errors;
};

/* All that a process has used. */
struct gpu_past {
	uint64_t serial;
	uint64_t busy_ns, memory_busy_ns, memory_peak_bytes;
	uint32_t has;
	uint64_t seen_ns; /* CLOCK_MONOTONIC of its last step */
};

struct gpu_desk {
	struct gpu_reader *reader; /* owned; NULL: this machine has no GPU, or none is wanted */
	/* owned; the last two passes taken, or @next is being taken; NULL like @reader */
	struct gpu_table *table, *next;
	uint64_t interval_ns; /* from pass to pass */
	bool is_foreign;      /* the PIDs of drivers are of another namespace than ours */
	bool is_closed;       /* the PIDs in /proc are of another namespace than ours */
	bool is_fresh;        /* the last pass is not too old, and tells processes */
	uint64_t step_ns;     /* from the pass before to it; 0: no new one at this drain */
	struct gpu_known known[MAX_GPUS];
	size_t nr_known;
	struct gpu_step *steps; /* owned; by PID */
	size_t nr_steps;
	struct gpu_past *past; /* owned; by serial */
	size_t nr_past, room_past;
	uint32_t *pids;   /* owned; GPU_READER_PIDS of them */
	uint64_t forgone; /* pasts without room */
};

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
/* Returns what the process has used so far, or NULL if it used no GPU. */
const struct gpu_past *gpu_desk_find(const struct gpu_desk *d, uint64_t serial);

/* Returns the memory that the process has on all devices at the last pass; 0 if it uses none. */
uint64_t gpu_desk_memory(const struct gpu_desk *d, uint32_t pid, uint64_t serial);

/* A device that processes of a tally have or had open. */
struct gpu_held {
	uint32_t device;
	bool is_held; /* at the last drain, as the following ones */
	uint32_t has; /* of all its uses */
	uint64_t memory_bytes, used_milli, worked_ns;
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
