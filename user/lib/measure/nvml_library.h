/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of libnvidia-ml.so.1 that nvml.c calls: own declarations of its ABI, which a test
 * compares with NVIDIA's header. Its answers are untrusted: counts, texts and values are bounded
 * here.
 */
#ifndef MEASURE_NVML_LIBRARY_H
#define MEASURE_NVML_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a function returns; others than these exist. */
enum nvml_result {
	NVML_OK = 0,
	NVML_NOT_INITIALIZED = 1,
	NVML_BAD_ARGUMENT = 2, /* of a handle, too, that is no longer valid */
	NVML_UNSUPPORTED = 3,
	NVML_FORBIDDEN = 4,
	NVML_NOT_THERE = 6, /* said of processes without a sample, too */
	NVML_NO_ROOM = 7,
	NVML_NO_DRIVER = 9,
	NVML_TIMED_OUT = 10,
	NVML_NO_LIBRARY = 12,
	NVML_NO_FUNCTION = 13,
	NVML_DEVICE_LOST = 15,
	NVML_BLOCKED = 17, /* by the cgroup of devices */
	NVML_OTHER_VERSION = 18,
	NVML_BAD_VERSION = 25,
	NVML_UNKNOWN = 999,
};

#define NVML_NO_VALUE UINT64_MAX /* in place of the memory of a process */
#define NVML_NO_PERCENT UINT32_MAX
#define NVML_NO_INSTANCE UINT32_MAX /* of a process outside instances (MIG) */
#define NVML_CLOCK_OF_SM 1
#define NVML_ECC_UNCORRECTED 1
#define NVML_ECC_SINCE_LOAD 0 /* of the driver */
#define NVML_EVENT_XID 0x8ULL
#define NVML_TEXT 96 /* bytes of a name or UUID */
#define NVML_MEMORY_VERSION (sizeof(struct nvml_memory_v2) | 2U << 24)

/* Reasons for a clock below its highest that are heat, power or a fault: the hardware's too. */
#define NVML_SLOWED_BY_POWER 0x4ULL
#define NVML_SLOWED_BY_HARDWARE 0x8ULL
#define NVML_SLOWED_BY_HEAT 0x20ULL
#define NVML_SLOWED_BY_HARDWARE_HEAT 0x40ULL
#define NVML_SLOWED_BY_POWER_BRAKE 0x80ULL

struct nvml_rates {
	unsigned int busy, memory_busy; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

struct nvml_process_v1 {
	unsigned int pid;
	unsigned long long memory;
};

/* Of _v2 and _v3. The _v3 of some drivers 535 writes 8 bytes more for each process. */
struct nvml_process_v2 {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_sample {
	unsigned int pid;
	unsigned long long epoch_us;
	unsigned int busy, memory_busy, encoder, decoder; /* percent */
};

struct nvml_stats {
	unsigned int busy, memory_busy; /* percent of its time */
	unsigned long long memory_peak; /* bytes */
	unsigned long long time_ms;     /* 0 until it ends */
	unsigned long long start_us;    /* since the epoch */
	unsigned int is_running;
	unsigned int reserved[5];
};

struct nvml_event {
	void *device;
	unsigned long long type, data;
	unsigned int gpu_instance, compute_instance;
};

enum nvml_list { NVML_COMPUTE, NVML_GRAPHICS, NR_NVML_LISTS };

/* A process that uses a device, as one of the lists has it. */
struct nvml_process {
	uint32_t pid;
	uint32_t gpu_instance, compute_instance; /* NVML_NO_INSTANCE: none, or not known */
	uint64_t memory_bytes;                   /* NVML_NO_VALUE: unknown */
};

/* Functions are NULL if the library lacks them; each returns an enum nvml_result. */
struct nvml_library {
	void *file; /* of dlopen() */
	unsigned int (*init)(void);
	unsigned int (*shutdown)(void);
	unsigned int (*device_count)(unsigned int *nr);
	unsigned int (*device_at)(unsigned int index, void **device);
	unsigned int (*uuid)(void *device, char *text, unsigned int size);
	unsigned int (*model)(void *device, char *text, unsigned int size);
	unsigned int (*minor_number)(void *device, unsigned int *number);
	unsigned int (*mig_mode)(void *device, unsigned int *mode, unsigned int *pending);
	unsigned int (*mig_most)(void *device, unsigned int *nr);
	unsigned int (*mig_at)(void *device, unsigned int index, void **instance);
	unsigned int (*gpu_instance)(void *device, unsigned int *id);
	unsigned int (*compute_instance)(void *device, unsigned int *id);
	unsigned int (*rates)(void *device, struct nvml_rates *rates);
	unsigned int (*memory)(void *device, struct nvml_memory *memory);
	unsigned int (*memory_v2)(void *device, struct nvml_memory_v2 *memory);
	unsigned int (*power)(void *device, unsigned int *mw);
	unsigned int (*clock)(void *device, unsigned int type, unsigned int *mhz);
	unsigned int (*clock_reasons)(void *device, unsigned long long *reasons);
	unsigned int (*throttle_reasons)(void *device, unsigned long long *reasons); /* old name */
	/* by list, and by version from 1 */
	unsigned int (*processes[NR_NVML_LISTS][3])(void *device, unsigned int *nr, void *infos);
	unsigned int (*samples)(void *device, struct nvml_sample *samples, unsigned int *nr,
				unsigned long long last_us);
	unsigned int (*energy)(void *device, unsigned long long *mj);
	unsigned int (*ecc)(void *device, unsigned int type, unsigned int since,
			    unsigned long long *nr);
	unsigned int (*events_make)(void **set);
	unsigned int (*events_register)(void *device, unsigned long long types, void *set);
	unsigned int (*events_wait)(void *set, struct nvml_event *event, unsigned int timeout_ms);
	unsigned int (*events_free)(void *set);
	unsigned int (*accounting_mode)(void *device, unsigned int *mode);
	unsigned int (*accounting_pids)(void *device, unsigned int *nr, unsigned int *pids);
	unsigned int (*accounting_stats)(void *device, unsigned int pid, struct nvml_stats *stats);

	void *buffer;               /* what lists are read into */
	size_t room;                /* entries of NVML_ENTRY bytes in it */
	int version[NR_NVML_LISTS]; /* index in processes that the library has; -1: none */
};

#define NVML_ENTRY 32         /* bytes of the largest entry of a list */
#define NVML_MOST_LISTED 4096 /* entries of a list that are read */

/* Calls a function of the library that it may lack. */
#define nvml_call(l, function, ...)                                                                \
	((l)->function ? (l)->function(__VA_ARGS__) : (unsigned int)NVML_NO_FUNCTION)

/*
 * Loads the library, without initializing it. Returns 0, -ENOENT if it is not installed, -ENOTSUP
 * if this program cannot load it, or -ENOMEM; @why then has the reason.
 */
int nvml_library_load(struct nvml_library *l, char *why, size_t size);
void nvml_library_unload(struct nvml_library *l);
/* Returns a word for what makes a device unreadable. */
const char *nvml_result_text(unsigned int result);

/* Memory that is in use, without what the driver reserves if that is known, and all of it. */
unsigned int nvml_read_memory(const struct nvml_library *l, void *device, uint64_t *used_bytes,
			      uint64_t *total_bytes);
/* Bits of NVML_SLOWED_*, and others. */
unsigned int nvml_read_reasons(const struct nvml_library *l, void *device, uint64_t *reasons);
/* Reads a text, which is printable ASCII and not empty if the function succeeds. */
unsigned int nvml_read_text(unsigned int (*function)(void *device, char *text, unsigned int size),
			    void *device, char *text, size_t size);
/*
 * Appends processes of a list to the @nr of @all, which has room for NVML_MOST_LISTED; what cannot
 * be a process is left out, and so is what has no room.
 */
unsigned int nvml_read_processes(struct nvml_library *l, void *device, enum nvml_list list,
				 struct nvml_process *all, size_t *nr);
/*
 * Reads samples since @last_us, and PIDs that have accounts, into the library's buffer, which is
 * valid until the next list is read.
 */
unsigned int nvml_read_samples(struct nvml_library *l, void *device, uint64_t last_us,
			       struct nvml_sample **samples, size_t *nr);
unsigned int nvml_read_accounted(struct nvml_library *l, void *device, unsigned int **pids,
				 size_t *nr);

#endif
