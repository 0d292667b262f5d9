// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta_container.h"

#include "run/meta_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 12 /* the least; engines use 64 digits, or 32 */
#define POD_PREFIX "pod"

/* How engines name a container's cgroup: a prefix, then an id (@is_hex) or a name. */
static const struct pattern {
	const char *prefix, *engine;
	bool is_hex;
} patterns[] = {
	{ "docker-", "docker", true },
	{ "libpod-", "podman", true },
	{ "cri-containerd-", "containerd", true },
	{ "nerdctl-", "containerd", true },
	{ "crio-", "cri-o", true },
	{ "lxc.payload.", "lxc", false },
	{ "apptainer-", "apptainer", false },
};

/* Cgroups whose children are those of containers, or parts of one. */
static const struct pattern folders[] = {
	{ "docker", "docker", true },
	{ "ecs", "docker", true },
	{ "lxc", "lxc", false },
	{ "buildkit", "buildkit", false },
	{ "libpod_parent", "podman", true },
};

static bool container_is_id(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return n >= ID_BYTES && n <= 64;
}

static bool container_take_match(struct container_info *c, const struct pattern *p,
				 const char *rest, size_t n)
{
	if (p->is_hex ? !container_is_id(rest, n) : !n)
		return false;
	snprintf(c->engine, sizeof(c->engine), "%s", p->engine);
	text_copy(p->is_hex ? c->id : c->name, p->is_hex ? sizeof(c->id) : sizeof(c->name), rest,
		  n);
	return true;
}

/* The UID of a pod: podUID.slice below kubepods.slice, with _ in place of -; or podUID. */
static void container_take_pod(struct container_info *c, const char *part, size_t n)
{
	const char *at = NULL;

	for (size_t i = 0; i + strlen(POD_PREFIX) < n; i++)
		if ((!i || part[i - 1] == '-') && !memcmp(part + i, POD_PREFIX, strlen(POD_PREFIX)))
			at = part + i + strlen(POD_PREFIX);
	if (!at)
		return;
	text_copy(c->pod, sizeof(c->pod), at, (size_t)(part + n - at));
	for (char *digit = c->pod; *digit; digit++)
		if (*digit == '_')
			*digit = '-';
}

static bool container_match_prefix(struct container_info *c, const char *part, size_t n)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		size_t prefix = strlen(patterns[i].prefix);

		if (n > prefix && !memcmp(part, patterns[i].prefix, prefix) &&
		    container_take_match(c, &patterns[i], part + prefix, n - prefix))
			return true;
	}
	return false;
}

static bool container_match_parent(struct container_info *c, const char *above, size_t above_n,
				   const char *part, size_t n)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strlen(folders[i].prefix) == above_n &&
		    !memcmp(folders[i].prefix, above, above_n) &&
		    container_take_match(c, &folders[i], part, n))
			return true;
	return false;
}

static size_t suffix_strip(const char *part, size_t n, const char *suffix)
{
	size_t length = strlen(suffix);

	return n > length && !memcmp(part + n - length, suffix, length) ? n - length : n;
}

bool container_of_cgroup(const char *path, struct container_info *c)
{
	const struct pattern pod = { "", "kubernetes", true };
	const char *above = "";
	size_t above_n = 0;
	bool found = false, in_pods = false;

	/* the outermost one counts: cgroups below it are made by the container itself */
	for (const char *part = path; *part && !found;) {
		size_t whole, n;

		part += strspn(part, "/");
		whole = strcspn(part, "/");
		n = suffix_strip(part, suffix_strip(part, whole, ".scope"), ".slice");
		if (in_pods)
			container_take_pod(c, part, n);
		found = container_match_prefix(c, part, n) ||
			container_match_parent(c, above, above_n, part, n) ||
			(in_pods && container_take_match(c, &pod, part, n));
		in_pods |= n >= 8 && !memcmp(part, "kubepods", 8);
		above = part;
		above_n = n;
		part += whole;
	}
	if (!found && c->pod[0])
		snprintf(c->engine, sizeof(c->engine), "kubernetes");
	return c->engine[0];
}

void container_of_process(const char *proc, struct container_info *c)
{
	char text[8192];
	char *save = NULL;

	file_read_text(proc, "/cgroup", text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (path && container_of_cgroup(path + 1, c))
			return;
	}
}

static void containerenv_copy(const char *text, const char *key, char *out, size_t size)
{
	size_t n;
	const char *at = text_value(text, key, '=', &n);

	if (at && n >= 2 && *at == '"' && at[n - 1] == '"')
		text_copy(out, size, at + 1, n - 2);
}

/* Podman's file names the container; it is empty unless the container is privileged. */
static bool container_from_podman(const char *root, struct container_info *c)
{
	char text[4096];

	if (file_read_text(root, "/run/.containerenv", text, sizeof(text)) < 0)
		return false;
	snprintf(c->engine, sizeof(c->engine), "podman");
	containerenv_copy(text, "id", c->id, sizeof(c->id));
	containerenv_copy(text, "name", c->name, sizeof(c->name));
	containerenv_copy(text, "image", c->image, sizeof(c->image));
	return true;
}

/* Values of $container that systemd documents; any other is not published, as it may be private. */
static bool container_is_manager(const char *name)
{
	static const char *const names[] = { "docker",      "podman",         "oci",    "lxc",
					     "lxc-libvirt", "systemd-nspawn", "flatpak" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void container_from_environment(struct container_info *c)
{
	static const char *const images[][2] = { { "APPTAINER_CONTAINER", "apptainer" },
						 { "SINGULARITY_CONTAINER", "singularity" } };
	const char *manager = getenv("container");

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		const char *image = getenv(images[i][0]);

		if (!image || !*image)
			continue;
		snprintf(c->engine, sizeof(c->engine), "%s", images[i][1]);
		text_copy(c->image, sizeof(c->image), image, strlen(image));
		return;
	}
	if (getenv("KUBERNETES_SERVICE_HOST"))
		snprintf(c->engine, sizeof(c->engine), "kubernetes");
	else if (manager && container_is_manager(manager))
		snprintf(c->engine, sizeof(c->engine), "%s", manager);
}

/* The file alone is a hint: it may have been copied, or be on the disk of a machine. */
static bool container_has_docker_file(const char *root, const char *proc)
{
	static const char initial[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO of the kernel */
	char path[4096], line[32], namespace[sizeof(initial)];
	ssize_t length;

	if (file_read_text(root, "/.dockerenv", line, sizeof(line)) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/ns/pid", proc);
	length = readlink(path, namespace, sizeof(namespace));
	return length > 0 && ((size_t)length != sizeof(initial) - 1 ||
			      memcmp(namespace, initial, sizeof(initial) - 1) != 0);
}

void container_of_self(const char *root, const char *proc, struct container_info *c)
{
	container_of_process(proc, c);
	if (container_from_podman(root, c) || c->engine[0])
		return;
	container_from_environment(c); /* before files: with Apptainer they are the host's */
	if (c->engine[0])
		return;
	if (container_has_docker_file(root, proc))
		snprintf(c->engine, sizeof(c->engine), "docker");
	else
		file_read_line(root, "/run/systemd/container", c->engine, sizeof(c->engine));
}
