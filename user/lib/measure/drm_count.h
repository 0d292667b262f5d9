/* SPDX-License-Identifier: BSD-2-Clause */
/* What has been counted of the clients of DRM devices. */
#ifndef MEASURE_DRM_COUNT_H
#define MEASURE_DRM_COUNT_H

#include "measure/drm.h"

/* Of a group of engines. */
struct engine_count {
	char name[24];
	uint64_t ns, cycles;   /* the largest values that the driver reported */
	uint64_t clock_cycles; /* at the last reading */
	uint64_t read_ns;      /* CLOCK_MONOTONIC of it; 0: clock_cycles is not known */
};

struct drm_count {
	uint32_t device; /* index in the devices */
	uint64_t id;
	uint64_t pass; /* the last in which it was open */
	bool has_busy, has_memory;
	uint64_t memory_bytes;
	uint32_t nr_engines;
	struct engine_count engines[DRM_ENGINES];
};

struct drm_counts {
	struct drm_count *counts; /* owned */
	size_t nr, room;
};

struct drm_count *drm_count_find(struct drm_counts *l, uint32_t device, uint64_t id);
/* Adds a client, from 0. Returns NULL if there is no room. Others move. */
struct drm_count *drm_count_add(struct drm_counts *l, uint32_t device, uint64_t id);
/* Counts from the present values on. */
void drm_count_begin(struct drm_count *c, const struct drm_client *now);
/*
 * Takes over the present values. Returns the time that engines have worked for the client since the
 * last call. Cycles become time at the next call, when the clock of the device is known.
 */
uint64_t drm_count_advance(struct drm_count *c, const struct drm_client *now, uint64_t now_ns);
/* To be called while the device is suspended: its clock may stand still. */
void drm_count_pause(struct drm_count *c);
/* Drops clients that were not open in the pass. */
void drm_counts_drop_closed(struct drm_counts *l, uint64_t pass);
void drm_counts_done(struct drm_counts *l);

#endif
