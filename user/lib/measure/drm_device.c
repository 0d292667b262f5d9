// SPDX-License-Identifier: BSD-2-Clause
#include "measure/drm_device.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NVIDIA's driver is read by nvml.c, the others have no hardware of their own. */
static const char *const ignored_drivers[] = {
	"nvidia", "nvidia-drm", "vgem", "vkms", "virtio_gpu", "vmwgfx", "bochs-drm", "hyperv_drm"
};

/* Values of sysfs: the first file of a bit that can be read counts. */
static const struct {
	const char *file;
	bool is_sensor; /* in the folder of hwmon */
	uint32_t has;
	size_t at; /* of a uint64_t in struct gpu_device */
	uint64_t divisor;
} device_values[] = {
	/* clang-format off */
	{ "mem_info_vram_used", false, GPU_MEMORY, offsetof(struct gpu_device, memory_bytes), 1 },
	{ "power1_average", true, GPU_POWER, offsetof(struct gpu_device, power_mw), 1000 },
	{ "power1_input", true, GPU_POWER, offsetof(struct gpu_device, power_mw), 1000 },
	{ "freq1_input", true, GPU_CLOCK, offsetof(struct gpu_device, clock_hz), 1 },
	/* clang-format on */
};

/* Files of a share in percent. */
static const struct {
	const char *file;
	uint32_t has;
	size_t at; /* of a uint32_t in struct gpu_device */
} device_shares[] = {
	{ "gpu_busy_percent", GPU_BUSY, offsetof(struct gpu_device, busy_milli) },
	{ "mem_busy_percent", GPU_MEMORY_BUSY, offsetof(struct gpu_device, memory_busy_milli) },
};

/* Reads a line of sysfs, without its end. Returns false if it is empty or cannot be read. */
static bool attribute_read(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	__cleanup(closep) int fd = -1;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return *text;
}

static bool attribute_number(const char *folder, const char *name, uint64_t *value)
{
	char text[32];

	return *folder && attribute_read(folder, name, text, sizeof(text)) &&
	       sscanf(text, "%" SCNu64, value) == 1;
}

/* Reads the last part of what the link @name in @folder points to; "" if there is none. */
static void link_read(const char *folder, const char *name, char *out, size_t size)
{
	char path[PATH_MAX], to[PATH_MAX];
	const char *last;
	ssize_t n;

	*out = '\0';
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return;
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	last = strrchr(to, '/');
	last = last ? last + 1 : to;
	if (strlen(last) < size)
		memcpy(out, last, strlen(last) + 1);
}

/* Reads N of a name such as "renderDN". Returns false if it is another name. */
static bool minor_parse(const char *name, const char *prefix, uint32_t *minor)
{
	size_t n = strlen(prefix);
	unsigned long value;
	char *end;

	if (strncmp(name, prefix, n) != 0 || !isdigit((unsigned char)name[n]))
		return false;
	errno = 0;
	value = strtoul(name + n, &end, 10);
	if (errno || *end || value >= DRM_NO_MINOR)
		return false;
	*minor = (uint32_t)value;
	return true;
}

/* A device has one card of its own beside what renders. */
static void primary_find(struct drm_device *d)
{
	char folder[PATH_MAX];
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *e;

	snprintf(folder, sizeof(folder), "%s/drm", d->path);
	dir = memory_opendir(folder);
	while (dir && (e = readdir(dir)))
		if (minor_parse(e->d_name, "card", &d->primary))
			return;
}

/* i915 has sensors of its tiles, too: those of the whole device have the name of the driver. */
static void sensors_find(struct drm_device *d)
{
	char folder[PATH_MAX], name[32];
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *e;

	snprintf(folder, sizeof(folder), "%s/hwmon", d->path);
	dir = memory_opendir(folder);
	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "hwmon", 5) != 0 ||
		    snprintf(d->hwmon, sizeof(d->hwmon), "%s/%s", folder, e->d_name) >=
			    (int)sizeof(d->hwmon))
			continue;
		if (attribute_read(d->hwmon, "name", name, sizeof(name)) &&
		    !strcmp(name, d->driver))
			return;
	}
	*d->hwmon = '\0';
}

static bool driver_is_ignored(const char *driver)
{
	for (size_t i = 0; i < sizeof(ignored_drivers) / sizeof(*ignored_drivers); i++)
		if (!strcmp(driver, ignored_drivers[i]))
			return true;
	return false;
}

static struct drm_device *device_add(struct drm_devices *l)
{
	struct drm_device *d;

	if (l->nr == MAX_GPUS)
		return NULL;
	d = &l->device[l->nr++];
	*d = (struct drm_device){ .render = DRM_NO_MINOR, .primary = DRM_NO_MINOR };
	return d;
}

static struct drm_device *device_named(struct drm_devices *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->device[i].name, name))
			return &l->device[i];
	return NULL;
}

/* Finds or adds the device of a node in /dev/dri: by its name in sysfs, else by its number. */
static struct drm_device *device_of_node(struct drm_devices *l, const char *name, uint32_t minor)
{
	struct drm_device *old = drm_device_find(l, minor), *d;

	if (old && (!*name || !strcmp(old->name, name)))
		return old;
	if (old) /* the number is that of another device now */
		old->render = old->primary = DRM_NO_MINOR;
	d = *name ? device_named(l, name) : NULL;
	if (!d)
		d = device_add(l);
	if (d && *name)
		snprintf(d->name, sizeof(d->name), "%s", name);
	else if (d)
		snprintf(d->name, sizeof(d->name), "renderD%u", minor);
	return d;
}

static void device_list(struct drm_devices *l, const char *node, uint32_t minor)
{
	char folder[80], name[sizeof(((struct drm_device *)0)->name)];
	struct drm_device *d;

	if (snprintf(folder, sizeof(folder), "%s/class/drm/%s", l->sys, node) >=
	    (int)sizeof(folder))
		return;
	link_read(folder, "device", name, sizeof(name));
	d = device_of_node(l, name, minor);
	if (!d)
		return;
	d->is_listed = true;
	d->render = minor;
	if (!*name)
		return;
	snprintf(d->path, sizeof(d->path), "%s/device", folder);
	link_read(d->path, "driver", d->driver, sizeof(d->driver));
	d->is_ignored = driver_is_ignored(d->driver);
	primary_find(d);
	sensors_find(d);
	attribute_read(d->path, "product_name", d->model, sizeof(d->model));
}

void drm_devices_list(struct drm_devices *l)
{
	char folder[PATH_MAX];
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *e;
	uint32_t minor;

	for (size_t i = 0; i < l->nr; i++)
		l->device[i].is_listed = false;
	snprintf(folder, sizeof(folder), "%s/dri", l->dev);
	dir = memory_opendir(folder);
	while (dir && (e = readdir(dir)))
		if (minor_parse(e->d_name, "renderD", &minor))
			device_list(l, e->d_name, minor);
}

struct drm_device *drm_device_find(struct drm_devices *l, uint32_t minor)
{
	for (size_t i = 0; i < l->nr; i++)
		if (minor != DRM_NO_MINOR &&
		    (l->device[i].render == minor || l->device[i].primary == minor))
			return &l->device[i];
	return NULL;
}

struct drm_device *drm_device_of_client(struct drm_devices *l, const char *pdev, const char *driver,
					uint32_t minor)
{
	struct drm_device *d = *pdev ? device_named(l, pdev) : NULL;

	if (!d)
		d = drm_device_find(l, minor);
	/* the number was given to another device since it was listed */
	if (d && *d->path && *pdev && strcmp(d->name, pdev) != 0)
		d = NULL;
	if (!d && !*pdev)
		d = device_named(l, driver);
	if (!d)
		d = device_add(l);
	if (!d)
		return NULL;
	if (!*d->name || (*pdev && !*d->path))
		snprintf(d->name, sizeof(d->name), "%s", *pdev ? pdev : driver);
	if (!*d->driver) {
		snprintf(d->driver, sizeof(d->driver), "%s", driver);
		d->is_ignored = driver_is_ignored(driver);
	}
	return d;
}

void drm_device_check(struct drm_device *d)
{
	char status[16];

	d->is_suspended = *d->path &&
			  attribute_read(d->path, "power/runtime_status", status, sizeof(status)) &&
			  !strcmp(status, "suspended");
}

/* The whole device, or its package where the driver has only that. */
static void energy_read_of(struct drm_device *d)
{
	uint64_t now_uj;

	if (!attribute_number(d->hwmon, "energy1_input", &now_uj) &&
	    !attribute_number(d->hwmon, "energy2_input", &now_uj))
		return;
	if (d->has_energy && now_uj > d->energy_last_uj)
		d->energy_uj += now_uj - d->energy_last_uj;
	d->has_energy = true;
	d->energy_last_uj = now_uj;
}

static void values_read_of(const struct drm_device *d, struct gpu_device *out)
{
	uint64_t value;

	for (size_t i = 0; i < sizeof(device_values) / sizeof(*device_values); i++) {
		if (out->has & device_values[i].has ||
		    !attribute_number(device_values[i].is_sensor ? d->hwmon : d->path,
				      device_values[i].file, &value))
			continue;
		value /= device_values[i].divisor;
		memcpy((char *)out + device_values[i].at, &value, sizeof(value));
		out->has |= device_values[i].has;
	}
	for (size_t i = 0; i < sizeof(device_shares) / sizeof(*device_shares); i++) {
		uint32_t milli;

		if (!attribute_number(d->path, device_shares[i].file, &value) || value > 100)
			continue;
		milli = (uint32_t)value * 10;
		memcpy((char *)out + device_shares[i].at, &milli, sizeof(milli));
		out->has |= device_shares[i].has;
	}
	if (out->has & GPU_MEMORY)
		attribute_number(d->path, "mem_info_vram_total", &out->memory_total_bytes);
}

void drm_device_read(struct drm_device *d, struct gpu_device *out)
{
	snprintf(out->name, sizeof(out->name), "%s", d->name);
	snprintf(out->model, sizeof(out->model), "%s", d->model);
	snprintf(out->driver, sizeof(out->driver), "%s", d->driver);
	out->minor = -1;
	if (!d->is_suspended) {
		energy_read_of(d);
		values_read_of(d, out);
	}
	if (!d->has_energy)
		return;
	out->has |= GPU_ENERGY;
	out->energy_uj = d->energy_uj;
}
