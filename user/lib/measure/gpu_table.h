/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the driver libraries and files report of GPUs: devices, which processes use them, and
 * processes that have ended. Filled by nvml.c and drm.c in a process of its own (gpu_reader.h).
 */
#ifndef MEASURE_GPU_TABLE_H
#define MEASURE_GPU_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_GPUS 64       /* devices, and instances of devices (MIG) */
#define MAX_GPU_USES 1024 /* pairs of a process and a device */
#define MAX_GPU_ENDED 256 /* processes that have ended, in a ring */

/* Bits of "has": a value without its bit is unknown. */
enum {
	GPU_BUSY = 1 << 0,
	GPU_MEMORY = 1 << 1,
	GPU_POWER = 1 << 2,
	GPU_ENERGY = 1 << 3,
	GPU_CLOCK = 1 << 4,
	GPU_THROTTLE = 1 << 5,
	GPU_ECC = 1 << 6,
	GPU_XID = 1 << 7,
	GPU_MEMORY_BUSY = 1 << 8,
	GPU_USES = 1 << 9,      /* of a device: its processes are known */
	GPU_ACCOUNTS = 1 << 10, /* of a device: the driver keeps accounts of ended processes */
};

/* Counters begin at 0 when the device is first read, and only grow. */
struct gpu_device {
	char name[48];   /* UUID of NVIDIA ("GPU-...", "MIG-..."); PCI address of other devices */
	char model[48];  /* "NVIDIA H200"; "" if unknown */
	char driver[16]; /* "nvidia", "amdgpu", "i915" ... */
	int minor;       /* of /dev/nvidiaN; -1: unknown */
	uint32_t has;
	uint32_t busy_milli;        /* share of the last moments with work, in thousandths */
	uint32_t memory_busy_milli; /* the same for reads and writes of its memory */
	uint64_t memory_bytes;      /* in use */
	uint64_t memory_total_bytes;
	uint64_t power_mw;
	uint64_t clock_hz;
	uint64_t energy_uj;    /* counter */
	uint64_t throttled_ns; /* counter: time slowed down by heat or power */
	uint64_t ecc_errors;   /* counter: uncorrected errors of its memory */
	uint64_t xid_errors;   /* counter: critical errors that the driver reports */
	uint32_t last_xid;     /* number of the last of them */
};

/*
 * Use of a device by a process. Counters begin at 0 when the pair is first seen, unless the driver
 * counts from the process's beginning and the process began after the reader.
 */
struct gpu_use {
	uint32_t pid;
	uint32_t device;         /* index in devices */
	uint32_t has;            /* GPU_MEMORY, GPU_BUSY, GPU_MEMORY_BUSY */
	uint32_t is_estimated;   /* busy_ns comes from percentages */
	uint64_t memory_bytes;   /* now */
	uint64_t busy_ns;        /* counter: time that the device worked for the process */
	uint64_t memory_busy_ns; /* counter: the same for reads and writes of its memory */
	uint64_t busy_at_ns;     /* CLOCK_MONOTONIC when it last worked; 0: not seen to */
	uint64_t seen_ns;        /* CLOCK_MONOTONIC when the pair was first seen */
};

/* A process that has ended, from the driver's accounting. */
struct gpu_ended {
	uint64_t serial; /* 1, 2, 3 ... in the order of reading */
	uint32_t pid, device;
	uint32_t has;            /* GPU_BUSY, GPU_MEMORY_BUSY, GPU_MEMORY: the peak */
	uint64_t start_epoch_us; /* when its use of the device began */
	uint64_t time_ns;        /* for so long */
	uint64_t busy_ns;        /* time that the device worked for it */
	uint64_t memory_busy_ns;
	uint64_t memory_peak_bytes; /* most memory in use at one time */
};

struct gpu_table {
	uint64_t pass_ns; /* CLOCK_MONOTONIC of the pass that filled it; 0: none yet */
	uint32_t nr_devices, nr_uses;
	uint32_t uses_dropped; /* that found no room, at this pass */
	uint32_t nr_ended;     /* since the start; ended[(serial - 1) % MAX_GPU_ENDED] */
	char why[192];         /* why devices or values are missing; "" if none are */
	struct gpu_device devices[MAX_GPUS];
	struct gpu_use uses[MAX_GPU_USES];
	struct gpu_ended ended[MAX_GPU_ENDED];
};

/* Adds a use at the end; returns NULL, and counts it as dropped, if there is no room. */
static inline struct gpu_use *gpu_table_add_use(struct gpu_table *t)
{
	if (t->nr_uses < MAX_GPU_USES)
		return &t->uses[t->nr_uses++];
	t->uses_dropped++;
	return NULL;
}

#endif
