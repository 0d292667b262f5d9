/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GPUs of AMD, Intel and others, from what the kernel's DRM drivers write into /proc/PID/fdinfo of
 * processes that have a device in /dev/dri open (Documentation/gpu/drm-usage-stats.rst). Reading
 * those of other users needs CAP_SYS_PTRACE, and finding them CAP_DAC_READ_SEARCH. Values of whole
 * devices are from sysfs (drm_device.h). The nouveau driver writes nothing into fdinfo: its
 * processes are known, and nothing of what they use.
 */
#ifndef MEASURE_DRM_H
#define MEASURE_DRM_H

#include "measure/gpu_table.h"

#define DRM_ENGINES 16 /* per client; more are ignored */

/* A group of identical engines. Its counters are the sums over them. */
struct drm_engine {
	char name[24];         /* "gfx", "rcs" */
	uint32_t capacity;     /* number of engines */
	bool has_ns;           /* drm-engine- */
	bool has_cycles;       /* drm-cycles- and drm-total-cycles- */
	uint64_t ns;           /* time that they worked for the client */
	uint64_t cycles;       /* the same, in units of the device's clock */
	uint64_t clock_cycles; /* the device's clock */
};

/* The fdinfo of one descriptor. A client may have several: dup(), fork(), SCM_RIGHTS. */
struct drm_client {
	char driver[16], pdev[24]; /* "amdgpu", "0000:03:00.0"; pdev is "" if it is no PCI device */
	uint64_t id;               /* drm-client-id */
	bool has_id, has_busy, has_memory;
	uint64_t memory_bytes; /* device memory; system memory of a GPU without its own */
	uint32_t nr_engines;
	struct drm_engine engines[DRM_ENGINES];
};

/*
 * Reads @text of fdinfo. Returns 0, -ENOENT if it is of no DRM device, or -EINVAL. Memory is what
 * is resident in the regions of the device ("vram", "vram0", "local0"); without any, in all
 * regions. drm-memory- is an older name of drm-resident-; without both it is drm-total-. amdgpu
 * writes engines only after they have worked: it has_busy without any.
 */
int drm_client_parse(struct drm_client *c, const char *text);

struct drm;

/* Returns 0 or -ENOMEM. @proc is "/proc", @dev "/dev", @sys "/sys"; they must outlive it. */
int drm_open(struct drm **d, const char *proc, const char *dev, const char *sys);
/* Returns true if a device of DRM that renders is there, not of NVIDIA nor of a virtual machine. */
bool drm_is_there(const char *dev, const char *sys);
/*
 * One pass at @now_ns (CLOCK_MONOTONIC) over the processes @pids: appends the devices that are in
 * /dev/dri or in use, and the uses. The DRM devices of NVIDIA's driver are left out.
 *
 * A client counts once, for the process with the lowest number of those that have it open. Several
 * clients of a process on a device are summed, and the time of a closed one stays in the sum. A
 * process that is not in @pids is forgotten.
 *
 * busy_ns is the sum over groups of engines, each divided by its number of engines. Different
 * engines may work at once, so that it may grow by more than the time elapsed. It begins with what
 * the driver has counted if the process began after drm_open(), or did not have the client open at
 * an earlier scan, and if the count is possible in that time; else (the client was inherited or
 * sent) with 0. Cycles become time at the second pass, by the clock of the device.
 *
 * Descriptors of a new process are looked for at once, then every 5 s (the first time up to 10 s).
 *
 * Also appends a use without values for each process with a DRM device open whose driver writes
 * nothing into fdinfo, and, where NVIDIA's driver refuses to tell processes (MIG), for each with an
 * open /dev/nvidiaN whose device (by its minor number) is in @t already.
 */
void drm_pass(struct drm *d, struct gpu_table *t, const uint32_t *pids, size_t nr, uint64_t now_ns);
void drm_close(struct drm *d);

/*
 * Finds the device of the descriptor @name in the folder @dir, which is /proc/PID/fd. Returns 0,
 * -ENODEV if it is no character device, or another negative errno.
 */
int drm_descriptor_read(int dir, const char *name, uint32_t *major, uint32_t *minor);
/* Replaces this function, for tests without device nodes. */
void drm_set_descriptor_read(struct drm *d, int (*read)(int dir, const char *name, uint32_t *major,
							uint32_t *minor));

#endif
