// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/cmd_export.h"

#include "bpfmon/whole_file.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int export_report_unwritable(const char *path, const struct output *out, int err)
{
	if (err == -EEXIST)
		log_error("'%s' exists and is not overwritten; --force replaces it", path);
	else if (err == -EALREADY)
		log_error("'%s' is being written by a bpfmon", path);
	else
		log_error("cannot write '%s': %s", strcmp(path, "-") ? path : "stdout",
			  output_error(out, err));
	return err;
}

int export_outputs_open(struct export_outputs *all, const struct export_format *as,
			const char *path, bool force)
{
	memory_exit_on_failure(false); /* a file that is not whole is to be removed */
	for (; all->nr < EXPORT_DOCUMENTS && as->documents[all->nr].write; all->nr++) {
		struct output *out = &all->out[all->nr];
		int err = 0;

		if (memory_asprintf(&all->path[all->nr], "%s%s", path,
				    as->documents[all->nr].suffix) < 0) {
			all->path[all->nr] = NULL;
			err = -ENOMEM;
		}
		if (!err)
			err = output_open_whole(out, all->path[all->nr], force);
		if (err) {
			export_report_unwritable(all->path[all->nr] ? all->path[all->nr] : path,
						 out, err);
			free(all->path[all->nr]);
			return err;
		}
	}
	return 0;
}

static int export_outputs_put(void *context, const char *text, size_t length)
{
	if (stop_signals_came())
		return -EINTR;
	output_put(context, text, length);
	return output_flush(context);
}

/* A full disk may show in fsync(). */
int export_outputs_commit(struct export_outputs *all)
{
	int err = 0;

	if (memory_has_failed()) /* part of the output may be missing */
		return export_report_unwritable(all->nr ? all->path[0] : "-", &all->out[0],
						-ENOMEM);
	for (size_t i = 0; !err && i < all->nr; i++) {
		struct output *out = &all->out[i];

		if (out->is_regular && fsync(out->fd))
			err = export_report_unwritable(all->path[i], out, -errno);
	}
	for (size_t i = 0; !err && i < all->nr; i++)
		if ((err = output_commit(&all->out[i]))) {
			export_report_unwritable(all->path[i], &all->out[i], err);
			while (i--) /* one file of two is of no use */
				output_remove_new(&all->out[i]);
			break;
		}
	return err;
}

int export_outputs_write(struct exporter *e, struct export_outputs *all,
			 const struct export_format *as)
{
	int err = 0;

	for (size_t i = 0; !err && i < all->nr; i++) {
		err = export_write(e, &as->documents[i], export_outputs_put, &all->out[i]);
		if (err && err != -EINTR && e->is_refused)
			export_report_unwritable(all->path[i], &all->out[i], err);
	}
	return err;
}

void export_outputs_close(struct export_outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		output_close(&all->out[i]);
		free(all->path[i]);
	}
}
