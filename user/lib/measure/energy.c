// SPDX-License-Identifier: BSD-2-Clause
#include "measure/energy.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The control type of Intel's and AMD's counters. "intel-rapl-mmio:" has the packages of
 * "intel-rapl:" again, other types have no counters.
 */
#define RAPL_PREFIX "intel-rapl:"
#define AMD_ENERGY "amd_energy" /* driver of hwmon with the counters that RAPL has for AMD */
#define NAME_BYTES sizeof(((struct energy_domain *)0)->name)

/* Drivers of GPUs, whose energy is read with their other values. */
static const char *const gpu_drivers[] = { "amdgpu", "i915", "nouveau", "radeon", "xe" };

struct energy_search {
	struct energy *e;
	bool has_rapl;           /* a package of RAPL is in the sum */
	char driver[NAME_BYTES]; /* of the sensor of hwmon that is searched */
	int err;                 /* of the first counter that could not be opened, with @why */
	char *why;
	size_t size;
};

static int energy_value_read(int fd, uint64_t *value)
{
	char text[32], *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long long v;

	if (n <= 0)
		return n ? -errno : -ENODATA;
	text[n] = '\0';
	if (!isdigit((unsigned char)*text))
		return -EBADMSG;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || (*end && *end != '\n'))
		return -EBADMSG;
	*value = v;
	return 0;
}

/* Returns the number in the file @path, or 0. */
static uint64_t energy_range_read(const char *path)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t range_uj = 0;

	if (fd >= 0)
		energy_value_read(fd, &range_uj);
	return range_uj;
}

/* Reads the first line of the file @path, which names a driver or domain. */
static bool energy_name_read(const char *path, char name[NAME_BYTES])
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, name, NAME_BYTES - 1, 0);

	if (n <= 0)
		return false;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	text_disarm(name);
	return *name;
}

static bool energy_name_is_taken(const struct energy *e, const char *name)
{
	for (size_t i = 0; i < e->nr; i++)
		if (!strcmp(e->domains[i].name, name))
			return true;
	return false;
}

/* Names are those of the rows of a sample: two equal sensors get different ones. */
static void energy_name_set(const struct energy *e, char to[NAME_BYTES], const char *name)
{
	snprintf(to, NAME_BYTES, "%s", name);
	text_disarm(to);
	for (unsigned n = 2; energy_name_is_taken(e, to); n++) {
		snprintf(to, NAME_BYTES, "%.*s-%u", (int)text_cut_bytes(name, NAME_BYTES - 12),
			 name, n);
		text_disarm(to);
	}
}

/* Keeps the first reason. */
static int energy_refuse(struct energy_search *s, const char *path, int err)
{
	if (!s->err && err == -EACCES)
		snprintf(s->why, s->size, "only root may read %s", path);
	else if (!s->err && err == -E2BIG)
		snprintf(s->why, s->size, "more than %d energy counters", MAX_ENERGY_DOMAINS);
	else if (!s->err)
		snprintf(s->why, s->size, "%s: %s", path, strerror(-err));
	s->err = s->err ? s->err : err;
	return err;
}

/* Returns an error where the sum would lack a counter. */
static int energy_domain_open(struct energy_search *s, const char *path, const char *name,
			      bool is_summed, uint64_t range_uj)
{
	struct energy *e = s->e;
	struct energy_domain d = { .is_summed = is_summed, .range_uj = range_uj };
	int err;

	if (e->nr == MAX_ENERGY_DOMAINS) {
		e->nr_left_out += !is_summed;
		return is_summed ? energy_refuse(s, path, -E2BIG) : 0;
	}
	d.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (d.fd < 0) {
		/* a zone of powercap may have no counter, a device may have gone */
		if (errno == ENOENT || errno == ENODEV)
			return 0;
		err = energy_refuse(s, path, -errno);
		return is_summed ? err : 0;
	}
	energy_name_set(e, d.name, name);
	e->has_sum = e->has_sum || is_summed;
	e->domains[e->nr++] = d;
	return 0;
}

/*
 * "intel-rapl:0" is a package or the whole platform (psys), "intel-rapl:0:1" a part of a package:
 * cores and what surrounds them are contained in the package, its memory (dram) is not.
 */
static int energy_zone_open(struct energy_search *s, const char *folder, const char *zone)
{
	const char *part = strchr(zone + strlen(RAPL_PREFIX), ':');
	char path[PATH_MAX], name[2 * NAME_BYTES], own[NAME_BYTES], parent[NAME_BYTES];
	bool is_summed;
	uint64_t range_uj;

	snprintf(path, sizeof(path), "%s/%s/name", folder, zone);
	if (!energy_name_read(path, own))
		return 0;
	snprintf(name, sizeof(name), "%s", own);
	is_summed = !part && !strncmp(own, "package", strlen("package"));
	if (part) {
		snprintf(path, sizeof(path), "%s/%.*s/name", folder, (int)(part - zone), zone);
		if (!energy_name_read(path, parent))
			return 0;
		snprintf(name, sizeof(name), "%s-%s", parent, own);
		is_summed = !strncmp(parent, "package", strlen("package")) && !strcmp(own, "dram");
	}
	snprintf(path, sizeof(path), "%s/%s/max_energy_range_uj", folder, zone);
	range_uj = energy_range_read(path);
	snprintf(path, sizeof(path), "%s/%s/energy_uj", folder, zone);
	return energy_domain_open(s, path, name, is_summed, range_uj);
}

/* The sockets of AMD's driver are the packages of RAPL: they are read where RAPL has none. */
static int energy_sensor_open(struct energy_search *s, const char *folder, const char *input)
{
	int stem = (int)(strlen(input) - strlen("_input"));
	bool is_amd = !strcmp(s->driver, AMD_ENERGY);
	char path[PATH_MAX], name[2 * NAME_BYTES], label[NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%.*s_label", folder, stem, input);
	if (!energy_name_read(path, label))
		snprintf(label, sizeof(label), "%.*s", stem, input);
	if (is_amd && (s->has_rapl || strncmp(label, "Esocket", strlen("Esocket")) != 0))
		return 0;
	snprintf(name, sizeof(name), "%s-%s", s->driver, label);
	snprintf(path, sizeof(path), "%s/%s", folder, input);
	return energy_domain_open(s, path, name, is_amd, 0);
}

static int energy_entry_is_zone(const struct dirent *entry)
{
	return !strncmp(entry->d_name, RAPL_PREFIX, strlen(RAPL_PREFIX));
}

static int energy_entry_is_hwmon(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "hwmon", strlen("hwmon"));
}

static int energy_entry_is_input(const struct dirent *entry)
{
	unsigned nth;
	int end = 0;

	return sscanf(entry->d_name, "energy%3u_input%n", &nth, &end) == 1 && end &&
	       !entry->d_name[end];
}

/* Calls @open_entry for each entry of @folder that @is_wanted, in the order of their numbers. */
static int energy_folder_search(struct energy_search *s, const char *folder,
				int (*is_wanted)(const struct dirent *),
				int (*open_entry)(struct energy_search *s, const char *folder,
						  const char *name))
{
	struct dirent **found;
	int n = memory_scandir(folder, &found, is_wanted, versionsort), err = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : energy_refuse(s, folder, -errno);
	for (int i = 0; i < n; i++) {
		if (!err)
			err = open_entry(s, folder, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return err;
}

static int energy_hwmon_search(struct energy_search *s, const char *folder, const char *hwmon)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/name", folder, hwmon);
	if (!energy_name_read(path, s->driver))
		return 0;
	for (size_t i = 0; i < sizeof(gpu_drivers) / sizeof(*gpu_drivers); i++)
		if (!strcmp(s->driver, gpu_drivers[i]))
			return 0;
	snprintf(path, sizeof(path), "%s/%s", folder, hwmon);
	return energy_folder_search(s, path, energy_entry_is_input, energy_sensor_open);
}

/* Returns what was counted since the last read. */
static uint64_t energy_domain_step(struct energy_domain *d)
{
	uint64_t last_uj = d->last_uj, step_uj = 0;

	d->is_lost = energy_value_read(d->fd, &d->last_uj) != 0;
	if (d->is_lost)
		return 0;
	if (!d->has_last)
		d->has_last = true;
	else if (d->last_uj >= last_uj)
		step_uj = d->last_uj - last_uj;
	else if (last_uj <= d->range_uj)
		step_uj = d->range_uj - last_uj + d->last_uj;
	return step_uj;
}

int energy_open(struct energy *e, const char *sys, char *why, size_t size)
{
	struct energy_search s = { .e = e, .why = why, .size = size };
	char folder[PATH_MAX];
	int err;

	*e = (struct energy){ 0 };
	snprintf(folder, sizeof(folder), "%s/class/powercap", sys);
	err = energy_folder_search(&s, folder, energy_entry_is_zone, energy_zone_open);
	s.has_rapl = e->has_sum;
	if (!err) {
		snprintf(folder, sizeof(folder), "%s/class/hwmon", sys);
		err = energy_folder_search(&s, folder, energy_entry_is_hwmon, energy_hwmon_search);
	}
	if (!err && !e->nr && s.err)
		err = s.err;
	if (!err && !e->nr) {
		snprintf(why, size, "this machine has no energy counters (RAPL, hwmon)");
		err = -ENOENT;
	}
	if (err)
		energy_done(e);
	else
		energy_read(e); /* the values that counting begins from */
	return err;
}

void energy_read(struct energy *e)
{
	for (size_t i = 0; i < e->nr; i++) {
		struct energy_domain *d = &e->domains[i];
		uint64_t step_uj = energy_domain_step(d);

		d->used_uj += step_uj;
		e->used_uj += d->is_summed ? step_uj : 0;
	}
}

void energy_done(struct energy *e)
{
	for (size_t i = 0; i < e->nr; i++)
		close(e->domains[i].fd);
	e->nr = 0;
	e->has_sum = false;
}

uint64_t energy_share(uint64_t spent_uj, uint64_t cpu_ns, uint64_t whole_ns)
{
	if (cpu_ns >= whole_ns)
		return whole_ns ? spent_uj : 0;
	return (uint64_t)((unsigned __int128)spent_uj * cpu_ns / whole_ns);
}
