// SPDX-License-Identifier: BSD-2-Clause
#include "agent/rules.h"

#include "agent/pattern.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The built-in rules: paths that systemd, batch systems and container engines create. Each begins
 * at the root. Cgroups delegated to a user or container, who may choose any names there, are
 * matched only by rows that name the delegation: the ids of such jobs begin with the outer job.
 */
#define USER "/user.slice/user-{uid:number}.slice"
#define MANAGER USER "/user@*.service"
#define POD "pod{pod:uuid}"
#define STEPS "/**.slice/slurmstepd.scope"
#define STEPS_OF_NODE "/**.slice/*_slurmstepd.scope" /* for several slurmd on a machine */

/* clang-format off: one row a rule */
const struct rule_row rule_rows[] = {
	/* batch systems */
	{ "slurm", "/slurm/uid_{uid:number}/job_{job:number}", "{job}", 0 },
	{ "slurm", "/slurm_*/uid_{uid:number}/job_{job:number}", "{job}", 0 },
	{ "slurm", STEPS "/job_{job:number}", "{job}", 0 },
	{ "slurm", STEPS_OF_NODE "/job_{job:number}", "{job}", 0 },
	{ "slurm-step", "/slurm/uid_{uid:number}/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	{ "slurm-step", "/slurm_*/uid_{uid:number}/job_{job:number}/step_{step}", "{job}.{step}",
	  0 },
	{ "slurm-step", STEPS "/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	{ "slurm-step", STEPS_OF_NODE "/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	/* since 26.05 a job may have a SLUID: s and 13 digits of base 32 */
	{ "none", STEPS "/system", "", 0 },
	{ "none", STEPS_OF_NODE "/system", "", 0 },
	{ "slurm", STEPS "/s{sluid}", "s{sluid}", 0 },
	{ "slurm", STEPS_OF_NODE "/s{sluid}", "s{sluid}", 0 },
	{ "slurm-step", STEPS "/s{sluid}/step_{step}", "s{sluid}.{step}", 0 },
	{ "slurm-step", STEPS_OF_NODE "/s{sluid}/step_{step}", "s{sluid}.{step}", 0 },
	{ "none", STEPS, "", RULE_EXPECTS },
	{ "none", STEPS_OF_NODE, "", RULE_EXPECTS },
	{ "none", "/slurm/system", "", 0 },
	{ "none", "/slurm_*/system", "", 0 },
	{ "none", "/slurm", "", RULE_EXPECTS },
	{ "none", "/slurm_*", "", RULE_EXPECTS },
	{ "htcondor", "/htcondor/condor_*_slot{slot}", "slot{slot}", 0 },
	{ "htcondor", "/htcondor/{slot}", "{slot}", 0 },
	{ "htcondor", "/system.slice/htcondor/condor_*_slot{slot}", "slot{slot}", 0 },
	{ "htcondor", "/system.slice/htcondor/{slot}", "{slot}", 0 },
	{ "htcondor", "/system.slice/condor.service/htcondor/condor_*_slot{slot}", "slot{slot}",
	  0 },
	{ "pbs", "/pbs_jobs.service/jobid/{job}", "{job}", 0 },
	{ "pbs", "/pbs_jobs.service/jobs/{job}", "{job}", 0 },
	{ "none", "/pbs_jobs.service", "", RULE_EXPECTS },
	{ "pbs", "/torque/{job}", "{job}", 0 },
	{ "lsf", "/lsf/*/job.{job:number}.*", "{job}", 0 },
	{ "lsf", "/lsf/*/job.{job:number}[{index:number}].*", "{job}[{index}]", 0 },
	{ "none", "/lsf", "", RULE_EXPECTS },
	{ "grid-engine", "/UGE/{job}", "{job}", 0 },
	{ "grid-engine", "/AGE/{job}", "{job}", 0 },
	{ "grid-engine", "/SGE/{job}", "{job}", 0 },
	{ "oar", "/oar/{user}_{job:number}", "{job}", 0 },
	/* units of the manager of Flux's own user: shell-RANK-JOB, by flux-imp for other users */
	{ "flux", MANAGER "/**.slice/imp-shell-*-{job}.service", "{uid}/{job}", 0 },
	{ "flux", MANAGER "/**.slice/shell-*-{job}.service", "{uid}/{job}", 0 },
	{ "nomad", "/nomad.slice/*.slice/{alloc:uuid}.{task}.scope", "{alloc}/{task}", 0 },

	/* Kubernetes with cgroupfs, with systemd, and nested as by kind */
	{ "pod", "/kubepods/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods/*/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubelet/kubepods/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubelet/kubepods/*/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods.slice/kubepods-" POD ".slice", "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods.slice/kubepods-*.slice/kubepods-*-" POD ".slice", "{pod}",
	  RULE_INSIDE },
	{ "pod", "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-" POD ".slice", "{pod}",
	  RULE_INSIDE },
	{ "pod",
	  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-*.slice/kubelet-kubepods-*-" POD
	  ".slice",
	  "{pod}", RULE_INSIDE },
	{ "container", "/kubepods/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/*/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/" POD "/crio-{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/*/" POD "/crio-{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubelet/kubepods/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubelet/kubepods/*/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "none", "/kubepods", "", RULE_EXPECTS },
	{ "none", "/kubelet/kubepods", "", RULE_EXPECTS },
	{ "none", "/kubepods.slice", "", RULE_EXPECTS },
	{ "none", "/kubelet.slice/kubelet-kubepods.slice", "", RULE_EXPECTS },
	/* containerd with systemd names, in a configuration without slices */
	{ "container",
	  "/system.slice/containerd.service/kubepods-" POD ".slice:cri-containerd:{hash:hash}",
	  "{hash}", 0 },
	{ "container",
	  "/system.slice/containerd.service/kubepods-*-" POD ".slice:cri-containerd:{hash:hash}",
	  "{hash}", 0 },
	{ "container",
	  "/system.slice/k3s.service/kubepods-" POD ".slice:cri-containerd:{hash:hash}", "{hash}",
	  0 },
	{ "container",
	  "/system.slice/k3s.service/kubepods-*-" POD ".slice:cri-containerd:{hash:hash}", "{hash}",
	  0 },

	/* containers of root: docker, libpod (podman), crio, cri-containerd, nerdctl */
	{ "monitor", "/**.slice/libpod-conmon-{hash:hash}.scope", "{hash}", 0 },
	{ "monitor", "/**.slice/crio-conmon-{hash:hash}.scope", "{hash}", 0 },
	{ "monitor", MANAGER "/**.slice/libpod-conmon-{hash:hash}.scope", "{uid}/{hash}", 0 },
	{ "container", MANAGER "/**.slice/*-{hash:hash}.scope", "{uid}/{hash}", RULE_MACHINE },
	{ "container", MANAGER "/**.slice/{unit:service}/libpod-payload-{hash:hash}",
	  "{uid}/{unit}/{hash}", RULE_MACHINE },
	{ "container", "/**.slice/*-{hash:hash}.scope", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/**.slice/{unit:service}/libpod-payload-{hash:hash}", "{unit}/{hash}",
	  RULE_MACHINE },
	{ "podman-pod", "/machine.slice/machine-libpod_pod_{pod:hash}.slice", "{pod}", 0 },
	{ "container", "/libpod_parent/libpod-{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/libpod_parent/{pod:hash}/libpod-{hash:hash}", "{hash}", RULE_MACHINE },
	{ "podman-pod", "/libpod_parent/{pod:hash}", "{pod}", 0 },
	{ "monitor", "/libpod_parent/libpod-conmon-{hash:hash}", "{hash}", 0 },
	{ "none", "/libpod_parent", "", RULE_EXPECTS },
	{ "lxc", "/lxc/{name}", "{name}", RULE_MACHINE },
	{ "lxc", "/lxc.payload.{name}", "{name}", RULE_MACHINE },
	{ "lxc", "/lxc.payload/{name}", "{name}", RULE_MACHINE },
	{ "monitor", "/lxc.monitor.{name}", "lxc/{name}", 0 },
	{ "monitor", "/lxc.monitor/{name}", "lxc/{name}", 0 },
	{ "container", "/ecs/{task}/{hash:hash}", "{hash}", RULE_MACHINE },
	{ "container", "/docker/buildkit/{name}", "buildkit/{name}", 0 },
	{ "container", "/mesos/{name:uuid}", "{name}", 0 },
	/* docker, and the namespaces of containerd: default, k8s.io, moby */
	{ "container", "/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	/* with --cgroup-parent=/A/B; slices also have delegated cgroups, which are no jobs */
	{ "none", "/*.slice/*/{hash:hash}", "", RULE_INSIDE },
	{ "none", "/*.slice/*/*/{hash:hash}", "", RULE_INSIDE },
	{ "container", "/*/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/*/*/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "none", "/docker", "", RULE_EXPECTS },
	{ "container", "/default/{name}", "default/{name}", 0 },

	/* machines of systemd-machined, libvirt and Proxmox */
	{ "machine", "/machine.slice/machine-{name}.scope", "{name}", RULE_MACHINE },
	{ "machine", "/machine.slice/systemd-nspawn@{name}.service", "{name}", RULE_MACHINE },
	{ "machine", "/machine/{name}.libvirt-qemu", "{name}", 0 },
	{ "machine", "/machine/{name}.libvirt-lxc", "{name}", 0 },
	{ "machine", "/qemu.slice/{name:number}.scope", "qemu/{name}", 0 },

	/* users: sessions, and units of a user's own manager, who may choose any names */
	{ "user", USER, "{uid}", 0 },
	{ "session", USER "/session-{session}.scope", "{uid}/{session}", 0 },
	{ "manager", MANAGER, "{uid}", 0 },
	{ "none", MANAGER "/init.scope", "", 0 },
	{ "app", MANAGER "/**.slice/{unit:unit}", "{uid}/{unit}", 0 },

	/* units of the system, in slices of any depth */
	{ "service", "/**.slice/{unit:service}", "{unit}", 0 },
	{ "scope", "/**.slice/{unit:scope}", "{unit}", 0 },
	{ "socket", "/**.slice/{unit}.socket", "{unit}.socket", 0 },
	{ "mount", "/**.slice/{unit}.mount", "{unit}.mount", 0 },
	{ "swap", "/**.slice/{unit}.swap", "{unit}.swap", 0 },
	{ "service", "/openrc/{service}", "{service}", 0 },
	{ "service", "/openrc.{service}", "{service}", 0 },
};
/* clang-format on */
const size_t nr_rule_rows = sizeof(rule_rows) / sizeof(*rule_rows);

/* Makes ids and names of jobs from names of cgroups, which users may have chosen. */

struct rule_text {
	char *text; /* NUL-terminated */
	size_t room, used;
	bool is_cut; /* something did not fit and was left out */
};

#define HASH_DIGITS 64
#define SHORT_DIGITS 12

/* Appends @n trusted bytes. */
static void rule_text_put(struct rule_text *t, const char *s, size_t n)
{
	if (t->is_cut || n >= t->room - t->used) {
		t->is_cut = true;
		return;
	}
	memcpy(t->text + t->used, s, n);
	t->used += n;
	t->text[t->used] = '\0';
}

/*
 * Appends @n bytes of a path, with \xHH for invalid UTF-8 and control characters. In a UUID, _
 * becomes -, as Kubernetes writes it.
 */
static void rule_text_put_part(struct rule_text *t, const char *s, size_t n, bool is_uuid)
{
	char escaped[5];
	bool is_control;

	for (size_t i = 0, length; i < n; i += length) {
		length = buffer_character_bytes(s + i, n - i, &is_control);
		if (is_uuid && s[i] == '_') {
			rule_text_put(t, "-", 1);
			continue;
		}
		for (size_t k = 0; is_control && k < length; k++) {
			snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned char)s[i + k]);
			rule_text_put(t, escaped, 4);
		}
		if (!is_control)
			rule_text_put(t, s + i, length);
	}
}

static int digit_value(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Returns the printable character that \xHH at @s encodes, or 0. */
static char escape_value(const char *s)
{
	int high, low, c;

	if (s[0] != '\\' || s[1] != 'x')
		return 0;
	high = digit_value(s[2]);
	low = high < 0 ? -1 : digit_value(s[3]);
	c = low < 0 ? 0 : high * 16 + low;
	return c >= ' ' && c <= '~' ? (char)c : 0;
}

/*
 * Copies @id in a readable form: \x2d of systemd becomes -, and 64 digits are cut to 12. What does
 * not fit is cut at a whole character.
 */
static void rule_text_name(char *out, size_t room, const char *id)
{
	struct rule_text t = { out, room, 0, false };
	size_t n = strlen(id);
	bool is_control;

	*out = '\0';
	if (n == HASH_DIGITS && strspn(id, "0123456789abcdef") == n)
		n = SHORT_DIGITS;
	for (size_t i = 0, length; i < n; i += length) {
		char c = escape_value(id + i);

		length = c ? 4 : buffer_character_bytes(id + i, n - i, &is_control);
		rule_text_put(&t, c ? &c : id + i, c ? 1 : length);
	}
}

#define ID_BYTES 64
#define PATTERN_COLUMNS 70
#define MAX_UID (UINT32_MAX - 1) /* the largest is no user */

struct rule {
	struct pattern pattern;
	char kind[CONFIG_WORD_BYTES]; /* empty for "none" */
	char id[ID_BYTES];            /* a byte 1 to PATTERN_PARTS stands for a part */
	int uid_part;                 /* -1 if the path names no user */
	unsigned flags;
};

struct rules {
	size_t nr;
	struct rule rules[];
};

/* A rule that matches the path, and the number of components from the root that it covers. */
struct fit {
	const struct rule *rule;
	size_t depth;
	struct piece parts[PATTERN_PARTS];
};

/* Where to match: in the whole path, or within a machine that is a job. */
struct place {
	size_t from;       /* first component */
	unsigned flags;    /* that rules must have */
	const char *scope; /* inside a machine: the id of its job without the kind; else "" */
	const struct rules_job *outer;
};

/* Copies @id with the names of parts replaced by their numbers. */
static void id_compile(struct rule *r, const char *id)
{
	size_t used = 0;

	while (*id && used < sizeof(r->id) - 1) {
		size_t length = strcspn(id, "}");

		if (*id == '{') {
			r->id[used++] = (char)(1 + pattern_part(&r->pattern, id + 1, length - 1));
			id += length + 1;
		} else {
			r->id[used++] = *id++;
		}
	}
}

/* The default id: all parts separated by /, or the name of the rule if there are none. */
static void id_default(struct rule *r, const char *name)
{
	size_t used = 0;

	if (!r->pattern.nr_parts)
		snprintf(r->id, sizeof(r->id), "%s", name);
	for (size_t i = 0; i < r->pattern.nr_parts; i++) {
		if (i)
			r->id[used++] = '/';
		r->id[used++] = (char)(1 + i);
	}
}

static int rule_compile(struct rule *r, const char *kind, const char *pattern, char *why,
			size_t size)
{
	int err = pattern_compile(&r->pattern, pattern, why, size);

	if (err)
		return err;
	snprintf(r->kind, sizeof(r->kind), "%s", strcmp(kind, "none") ? kind : "");
	r->uid_part = pattern_part(&r->pattern, "uid", 3);
	if (r->uid_part < 0 || r->pattern.types[r->uid_part] == TOKEN_NUMBER)
		return 0;
	snprintf(why, size, "the part uid must be a number: {uid:number}");
	return -EINVAL;
}

int rules_open(const struct agent_config *c, struct rules **rules, char *why, size_t size)
{
	size_t nr = c->nr_rules + nr_rule_rows;
	struct rules *all = memory_calloc(1, sizeof(*all) + nr * sizeof(*all->rules));
	char wrong[256];

	*rules = NULL;
	if (!all) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	all->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		const struct config_rule *own = i < c->nr_rules ? &c->rules[i] : NULL;
		const struct rule_row *row = own ? NULL : &rule_rows[i - c->nr_rules];
		struct rule *r = &all->rules[i];

		if (rule_compile(r, own ? own->kind : row->kind, own ? own->pattern : row->pattern,
				 wrong, sizeof(wrong))) {
			snprintf(why, size, "%s:%u: pattern = %s of [rule %s]: %s",
				 own ? c->files[own->file] : "", own ? own->line : 0,
				 own ? own->pattern : row->pattern, own ? own->name : row->kind,
				 wrong);
			text_disarm(why);
			rules_close(all);
			return -EINVAL;
		}
		if (own) {
			id_default(r, own->name);
		} else {
			id_compile(r, row->id);
			r->flags = row->flags;
		}
	}
	*rules = all;
	return 0;
}

void rules_close(struct rules *rules)
{
	free(rules);
}

/* Inserts @f into @fits, sorted by depth; the first of two matches for one cgroup stays. */
static size_t fit_insert(struct fit *fits, size_t nr, const struct fit *f)
{
	size_t at = nr;

	while (at && fits[at - 1].depth >= f->depth)
		if (fits[--at].depth == f->depth)
			return nr;
	if (nr == RULES_JOBS)
		return nr;
	memmove(&fits[at + 1], &fits[at], (nr - at) * sizeof(*fits));
	fits[at] = *f;
	return nr + 1;
}

static size_t fits_find(const struct rules *rules, const struct path *path,
			const struct place *place, struct fit fits[RULES_JOBS])
{
	size_t nr = 0, length;

	for (size_t i = 0; i < rules->nr; i++) {
		struct fit f = { .rule = &rules->rules[i] };

		if ((f.rule->flags & place->flags) != place->flags)
			continue;
		length = pattern_match(&f.rule->pattern, path, place->from, f.parts);
		if (!length)
			continue;
		f.depth = place->from + length;
		nr = fit_insert(fits, nr, &f);
	}
	return nr;
}

/* Returns the user that the path names; -1 if none, or if it is no valid uid. */
static int64_t uid_of_fit(const struct fit *f)
{
	int64_t uid = 0;
	struct piece s;

	if (f->rule->uid_part < 0)
		return -1;
	s = f->parts[f->rule->uid_part];
	for (size_t i = 0; i < s.length; i++) {
		uid = uid * 10 + (s.text[i] - '0');
		if (uid > MAX_UID)
			return -1;
	}
	return uid;
}

/* Returns false if the id would be too long. */
static bool job_fill(struct rules_job *job, const struct fit *f, const struct place *place)
{
	const struct rule *r = f->rule;
	struct rule_text id = { job->id, sizeof(job->id), 0, false };
	const struct rules_job *outer = place->outer;

	rule_text_put(&id, r->kind, strlen(r->kind));
	rule_text_put(&id, "/", 1);
	if (*place->scope) {
		rule_text_put(&id, place->scope, strlen(place->scope));
		rule_text_put(&id, "/", 1);
	}
	for (const char *c = r->id; *c; c++) {
		unsigned part = (unsigned char)*c - 1u;

		if (part < PATTERN_PARTS)
			rule_text_put_part(&id, f->parts[part].text, f->parts[part].length,
					   r->pattern.types[part] == TOKEN_UUID);
		else
			rule_text_put(&id, c, 1);
	}
	if (id.is_cut)
		return false;
	snprintf(job->kind, sizeof(job->kind), "%s", r->kind);
	rule_text_name(job->name, sizeof(job->name), strrchr(job->id, '/') + 1);
	job->depth = (unsigned)f->depth;
	*job->account = *job->partition = *job->sluid = *job->user = '\0';
	/* uids within a container are not those of the machine */
	job->uid = place->flags & RULE_INSIDE ? -1 : uid_of_fit(f);
	if (job->uid < 0 && outer)
		job->uid = outer->uid;
	return true;
}

/* Engines that share a cgroup namespace with their payload put it one level deeper. */
static size_t machine_inside(const struct path *path, size_t from)
{
	static const char *const names[] = { "container", "payload", "ns" };

	for (size_t i = 0; from < path->nr && i < sizeof(names) / sizeof(*names); i++)
		if (path->components[from].length == strlen(names[i]) &&
		    !memcmp(path->components[from].text, names[i], strlen(names[i])))
			return from + 1;
	return from;
}

size_t rules_find(const struct rules *rules, const char *path, struct rules_job jobs[RULES_JOBS])
{
	struct place place = { .scope = "" };
	struct fit fits[RULES_JOBS];
	size_t nr = 0, nr_fits;
	struct path split;
	const struct rules_job *machine;

	path_split(&split, path);
	do {
		machine = NULL;
		nr_fits = fits_find(rules, &split, &place, fits);
		/* the inside of a machine is matched by rules of its own */
		for (size_t i = 0; i < nr_fits && nr < RULES_JOBS && !machine; i++) {
			struct rules_job *job = &jobs[nr];

			if (!*fits[i].rule->kind || !job_fill(job, &fits[i], &place))
				continue;
			place.outer = job;
			nr++;
			if (fits[i].rule->flags & RULE_MACHINE)
				machine = job;
		}
		if (machine) {
			place.flags = RULE_INSIDE;
			place.from = machine_inside(&split, machine->depth);
			place.scope = strchr(machine->id, '/') + 1;
		}
	} while (machine && nr < RULES_JOBS);
	return nr;
}

unsigned rules_find_gap(const struct rules *rules, const char *path)
{
	const struct place place = { .scope = "" };
	struct fit fits[RULES_JOBS];
	struct path split;
	size_t nr;

	path_split(&split, path);
	nr = fits_find(rules, &split, &place, fits);
	if (!nr || fits[nr - 1].depth == split.nr || !(fits[nr - 1].rule->flags & RULE_EXPECTS))
		return 0;
	return (unsigned)fits[nr - 1].depth;
}

void rules_print_table(FILE *f)
{
	fprintf(f, "%-11s  %-*s  %s\n", "KIND", PATTERN_COLUMNS, "PATTERN", "ID");
	for (size_t i = 0; i < nr_rule_rows; i++) {
		const struct rule_row *r = &rule_rows[i];

		if (*r->id)
			fprintf(f, "%-11s  %-*s  %s/%s\n", r->kind, PATTERN_COLUMNS, r->pattern,
				r->kind, r->id);
		else
			fprintf(f, "%-11s  %s\n", r->kind, r->pattern);
	}
}
