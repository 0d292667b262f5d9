/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State behind nvml.h: nvml.c makes passes, nvml_step.c reads slow values, nvml_search.c finds
 * devices, nvml_uses.c knows their processes, nvml_accounts.c those that have ended, nvml_events.c
 * critical errors.
 */
#ifndef MEASURE_NVML_STATE_H
#define MEASURE_NVML_STATE_H

#include "base/clock.h"
#include "measure/gpu_table.h"
#include "measure/nvml.h"
#include "measure/nvml_library.h"

#define NVML_TRY_AGAIN_NS (10 * NSEC_PER_SEC) /* for a device that is lost */
#define NVML_NEVER UINT64_MAX                 /* when a value is due that there is not */
#define NVML_GONE 64                          /* processes whose accounts are asked for at once */

/* Values of a device that nvml_step() reads. */
enum nvml_task {
	NVML_TASK_ENERGY,
	NVML_TASK_ECC,
	NVML_TASK_SAMPLES, /* of the utilization by processes */
	NVML_TASK_ACCOUNTS,
	NVML_TASK_INSTANCES, /* MIG */
	NR_NVML_TASKS
};

/* A counter of the library as one that begins at 0 and never falls. */
struct nvml_counter {
	uint64_t last, total;
	bool has_last;
};

/* A process in the accounting of a device. */
struct nvml_account {
	uint32_t pid;
	bool is_ended; /* and was stored, unless it had ended before */
	uint64_t start_us;
};

struct nvml_accounts {
	struct nvml_account *all; /* by PID */
	size_t nr;
	size_t next;       /* which of them to read; nr: all have been */
	unsigned round;    /* of reading them */
	uint64_t round_ns; /* when to begin the next one */
	bool is_on, has_begun;
	uint32_t gone[NVML_GONE]; /* PIDs that have left the list of processes */
	size_t nr_gone;
};

struct nvml_device {
	void *handle;
	struct gpu_device values;
	int parent; /* index of the device that it is an instance of; -1: none */
	uint32_t gpu_instance, compute_instance; /* NVML_NO_INSTANCE: no instance */
	unsigned int lost;    /* result by which it became unreadable; NVML_OK: it is readable */
	bool has_instances;   /* which use it: processes are theirs */
	bool is_listed;       /* by the last search */
	bool lists_by_parent; /* processes, by their instances */
	bool is_forbidden;    /* the list of processes */
	bool has_no_samples;  /* of the utilization by processes */
	uint32_t slow_has;    /* bits of values that nvml_step() has read */
	uint64_t pass_ns;     /* of the last pass that could read it; 0: none */
	uint64_t throttle_ns; /* of the last pass that could read why it is slowed down; 0: none */
	uint64_t graphics_ns; /* when the list of graphics processes was last read */
	size_t nr_graphics;   /* in it */
	size_t first_use, nr_uses; /* in nvml.uses */
	uint64_t given_ns;         /* time until then has been given to processes */
	bool was_busy;             /* since then */
	uint64_t sample_us;        /* time of the last sample; 0: none that can be true */
	struct nvml_counter energy_mj, ecc;
	uint64_t energy_ns; /* when it was read */
	struct nvml_accounts accounts;
	uint64_t due_ns[NR_NVML_TASKS];
};

/* Parts of a time that processes are given. */
struct nvml_share {
	uint32_t busy, memory_busy, nr; /* sums of percentages, and of how many samples */
};

struct nvml {
	struct nvml_library lib;
	struct nvml_device devices[MAX_GPUS];
	size_t nr_devices;
	uint64_t opened_us;  /* since the epoch */
	unsigned unreadable; /* devices that the driver counts, but does not let be found */
	unsigned unreadable_result;
	unsigned without_room;
	uint64_t recover_ns;  /* when to look for lost devices; NVML_NEVER: none is lost */
	void *events;         /* NULL: none */
	uint64_t events_ns;   /* when to ask for them */
	unsigned events_read; /* at once */
	/* by device and PID; the next pass writes the other one */
	struct gpu_use lists[2][MAX_GPU_USES];
	struct gpu_use *uses;
	size_t nr_uses;
	uint32_t uses_dropped;
	struct nvml_process found[NVML_MOST_LISTED];
	struct nvml_share shares[MAX_GPU_USES];
	uint32_t nr_ended;
	struct gpu_ended ended[MAX_GPU_ENDED]; /* as in a table, but for the index of the device */
};

/* nvml_device.c */

/* Takes a device's values away, until it is found again. */
void nvml_device_lose(struct nvml *n, struct nvml_device *d, unsigned int result, uint64_t now_ns);
/* Returns whether @result is OK; loses the device if it says that nothing can be read. */
bool nvml_device_took(struct nvml *n, struct nvml_device *d, unsigned int result, uint64_t now_ns);
/* Returns true for an instance that no longer exists, as opposed to a device that is lost. */
bool nvml_device_is_removed(const struct nvml_device *d);

/* nvml_events.c */

/* Asks for events of all devices, of one that was found later, or no more. */
void nvml_events_open(struct nvml *n);
void nvml_events_register(struct nvml *n, struct nvml_device *d);
void nvml_events_close(struct nvml *n);
/* Counts one event if there is one: then the next one is due at once. */
void nvml_events_read(struct nvml *n, uint64_t now_ns);

/* nvml_search.c */

/* Searches all devices and instances: new ones get a place, lost ones may be readable again. */
void nvml_devices_find(struct nvml *n, uint64_t now_ns);
/* Does so with the instances of one. Returns a result. */
unsigned int nvml_instances_find(struct nvml *n, struct nvml_device *parent);
/* Initializes the library again, if it may have lost the driver, and finds devices. */
void nvml_recover(struct nvml *n, uint64_t now_ns);

/* nvml_uses.c */

/* Reads the processes of all devices, after their values, and gives them the devices' time. */
void nvml_uses_read(struct nvml *n, uint64_t now_ns);
/* Gives the time since it was last given to the processes of @d by their samples. */
void nvml_uses_share(struct nvml *n, struct nvml_device *d, struct nvml_sample *samples, size_t nr,
		     uint64_t now_ns);
/* Forgets the processes of a device, whose place another one gets. */
void nvml_uses_forget(struct nvml *n, struct nvml_device *d);

/* nvml_step.c */

/* Returns a result. */
unsigned int nvml_energy_read(struct nvml *n, struct nvml_device *d, uint64_t now_ns);

/* nvml_accounts.c */

/* Reads some of the accounts of @d. Returns a result, and when it is to be called again. */
unsigned int nvml_accounts_read(struct nvml *n, struct nvml_device *d, uint64_t now_ns,
				uint64_t *due_ns);
/* Has the account of a process read, which no longer uses @d. */
void nvml_account_gone(struct nvml_device *d, uint32_t pid);

#endif
