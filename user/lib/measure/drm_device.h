/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices in /dev/dri that render, and what sysfs has of each. */
#ifndef MEASURE_DRM_DEVICE_H
#define MEASURE_DRM_DEVICE_H

#include "measure/gpu_table.h"

#include <limits.h>

#define DRM_NO_MINOR UINT32_MAX

struct drm_device {
	char name[48];  /* PCI address, or the name of the device in sysfs */
	char model[48]; /* "" if unknown */
	char driver[16];
	char path[96];            /* in sysfs; "" if it is not there */
	char hwmon[128];          /* folder of its sensors; "" without */
	uint32_t render, primary; /* minor numbers; DRM_NO_MINOR if unknown */
	bool is_listed;           /* in /dev/dri */
	bool is_ignored;          /* no GPU, or one that another source reads */
	bool is_suspended;        /* reading would wake it */
	bool has_energy;
	uint64_t energy_uj, energy_last_uj; /* since the first reading; the last reading */
	uint64_t used_pass;                 /* the last pass with a use of it */
	uint32_t index;                     /* in the table of the present pass */
};

struct drm_devices {
	const char *dev, *sys; /* not owned */
	size_t nr;
	struct drm_device device[MAX_GPUS];
};

/* Looks what is in /dev/dri now. Devices keep their places. */
void drm_devices_list(struct drm_devices *l);
/* Finds the device with the minor number of a descriptor; NULL if there is none. */
struct drm_device *drm_device_find(struct drm_devices *l, uint32_t minor);
/*
 * Finds or adds the device of a client by its PCI address, else by @minor, else by its driver.
 * Returns NULL if there is no room.
 */
struct drm_device *drm_device_of_client(struct drm_devices *l, const char *pdev, const char *driver,
					uint32_t minor);
/* Reads if the device is suspended. */
void drm_device_check(struct drm_device *d);
/* Reads values into @out, which is all zero, unless the device is suspended. */
void drm_device_read(struct drm_device *d, struct gpu_device *out);

#endif
