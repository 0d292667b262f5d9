// SPDX-License-Identifier: BSD-2-Clause
#include "measure/images.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRUNE_FROM 1024
/* A record comes only when its process is freed, and a drain under churn may miss a process. */
#define KEEP_NS (10 * NSEC_PER_SEC)

int images_init(struct images *all)
{
	*all = (struct images){ .nr_slots = 4096, .prune_at = PRUNE_FROM };
	all->slots = memory_calloc(all->nr_slots, sizeof(struct image *));
	return all->slots ? 0 : -ENOMEM;
}

static void images_prune_now(struct images *all, uint64_t before_ns)
{
	for (size_t i = 0; i < all->nr_slots; i++) {
		struct image **at = &all->slots[i];

		while (*at) {
			struct image *image = *at;

			if (image->seen_ns >= before_ns) {
				at = &image->next;
				continue;
			}
			*at = image->next;
			free(image);
			all->used--;
		}
	}
}

void images_done(struct images *all)
{
	if (all->slots)
		images_prune_now(all, UINT64_MAX);
	free(all->slots);
	*all = (struct images){ 0 };
}

static struct image **slot_of(const struct images *all, uint64_t id)
{
	return &all->slots[(id * 0x9e3779b97f4a7c15ULL >> 32) % all->nr_slots];
}

/* Joins the components, stored leaf first, to a path. */
static size_t path_join(char *out, const char *text, size_t length)
{
	size_t used = 0;

	for (size_t end = length; end > 0;) {
		size_t start = end - 1; /* at the NUL that ends the component */

		while (start > 0 && text[start - 1])
			start--;
		out[used++] = '/';
		memcpy(out + used, text + start, end - 1 - start);
		used += end - 1 - start;
		end = start;
	}
	out[used++] = '\0';
	return used;
}

int images_add(struct images *all, const struct exec_event *e, uint64_t now_ns)
{
	struct image **slot = slot_of(all, e->image);
	struct image *image = memory_calloc(1, sizeof(*image) + e->path_bytes + 2 + e->args_bytes);
	size_t used;

	if (!image)
		return -ENOMEM;
	image->id = e->image;
	image->seen_ns = now_ns;
	image->uid = e->uid;
	image->has_mixed_ids = e->flags & EXEC_MIXED_IDS;
	used = path_join(image->text, e->text, e->path_bytes);
	if (e->path_bytes && !(e->flags & EXEC_PATH_CUT))
		image->exe = image->text;
	image->has_args = !(e->flags & EXEC_ARGS_UNREAD) && e->args_bytes;
	image->args = image->text + used;
	image->args_length = e->args_bytes;
	image->args_cut = e->flags & EXEC_ARGS_CUT;
	memcpy(image->text + used, e->text + e->path_bytes, e->args_bytes);
	image->next = *slot;
	*slot = image;
	all->used++;
	return 0;
}

static void image_keep(const struct image *image, struct jsonw *j)
{
	jsonw_object(j, NULL);
	jsonw_uint(j, "id", image->id);
	jsonw_uint(j, "uid", image->uid);
	jsonw_bool(j, "mixed_ids", image->has_mixed_ids);
	jsonw_bool(j, "args_cut", image->args_cut);
	if (image->exe)
		jsonw_hex(j, "exe", image->exe, strlen(image->exe));
	if (image->has_args)
		jsonw_hex(j, "args", image->args, image->args_length);
	jsonw_object_end(j);
}

static int image_resume(struct images *all, const json_t *o, uint64_t now_ns)
{
	const char *exe = json_string_value(json_object_get(o, "exe"));
	const char *args = json_string_value(json_object_get(o, "args"));
	size_t bytes = (exe ? strlen(exe) / 2 : 0) + (args ? strlen(args) / 2 : 0) + 3;
	struct image *image = memory_calloc(1, sizeof(*image) + bytes), **slot;
	char *at;

	if (!image)
		return -ENOMEM;
	at = image->text;
	image->id = (uint64_t)json_integer_value(json_object_get(o, "id"));
	image->uid = (uint32_t)json_integer_value(json_object_get(o, "uid"));
	image->seen_ns = now_ns;
	image->has_mixed_ids = json_is_true(json_object_get(o, "mixed_ids"));
	image->args_cut = json_is_true(json_object_get(o, "args_cut"));
	image->exe = exe ? at : NULL;
	at += exe ? hex_decode(at, exe) + 1 : 0;
	image->has_args = args != NULL;
	image->args = at;
	image->args_length = args ? hex_decode(at, args) : 0;
	slot = slot_of(all, image->id);
	image->next = *slot;
	*slot = image;
	all->used++;
	return 0;
}

void images_keep(const struct images *all, uint64_t since_ns, struct jsonw *j)
{
	jsonw_array(j, "images");
	for (size_t i = 0; i < all->nr_slots; i++)
		for (const struct image *image = all->slots[i]; image; image = image->next)
			if (image->seen_ns >= since_ns)
				image_keep(image, j);
	jsonw_array_end(j);
}

int images_resume(struct images *all, const json_t *array, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < json_array_size(array); i++)
		err = image_resume(all, json_array_get(array, i), now_ns);
	return err;
}

static struct image *image_slot_find(const struct images *all, uint64_t id)
{
	struct image *image = *slot_of(all, id);

	while (image && image->id != id)
		image = image->next;
	return image;
}

const struct image *images_find(const struct images *all, uint64_t id)
{
	return image_slot_find(all, id);
}

void images_touch(struct images *all, uint64_t id, uint64_t now_ns)
{
	struct image *image = image_slot_find(all, id);

	if (image)
		image->seen_ns = now_ns;
}

void images_prune(struct images *all, uint64_t now_ns)
{
	if (all->used < all->prune_at || now_ns < KEEP_NS)
		return;
	images_prune_now(all, now_ns - KEEP_NS);
	all->prune_at = all->used * 2 > PRUNE_FROM ? all->used * 2 : PRUNE_FROM;
}

/* Stores the components of @path, leaf first, each NUL-terminated. */
static void put_path(struct exec_event *e, char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		size_t n = strlen(slash + 1) + 1;

		if (e->path_bytes + n > PATH_BYTES) {
			e->flags |= EXEC_PATH_CUT;
			return;
		}
		memcpy(e->text + e->path_bytes, slash + 1, n);
		e->path_bytes += (__u32)n;
		*slash = '\0';
	}
}

static void put_args(struct exec_event *e, pid_t pid)
{
	char name[64], more;
	__cleanup(closep) int fd = -1;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, e->text + e->path_bytes, ARGS_BYTES);
	if (n < 0) {
		e->flags |= EXEC_ARGS_UNREAD;
		return;
	}
	e->args_bytes = (__u32)n;
	if (n == ARGS_BYTES && read(fd, &more, 1) == 1)
		e->flags |= EXEC_ARGS_CUT;
}

int image_of_running(pid_t pid, bool want_args, struct exec_event *e)
{
	static const char deleted[] = " (deleted)";
	char name[64], path[4096];
	struct stat st;
	ssize_t n;

	memset(e, 0, offsetof(struct exec_event, text));
	e->kind = EVENT_EXEC;
	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	if (n > (ssize_t)sizeof(deleted) && !strcmp(path + n - sizeof(deleted) + 1, deleted))
		path[n - (ssize_t)sizeof(deleted) + 1] = '\0';
	put_path(e, path);
	/*
	 * not the folder: its owner is always the effective user; status is root's if not dumpable
	 */
	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	e->uid = stat(name, &st) ? 0 : st.st_uid;
	if (want_args)
		put_args(e, pid);
	return 0;
}
