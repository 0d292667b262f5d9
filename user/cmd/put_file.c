// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/put_file.h"

#include "base/log.h"
#include "record/output.h"

#include <errno.h>
#include <string.h>

int put_file(const char *what, const char *path, bool force, const char *text, size_t length)
{
	struct output out;
	int err = output_open(&out, path, force), closed;

	if (err == -EEXIST) {
		log_error("'%s' exists and is not overwritten; --force replaces it", path);
		return err;
	}
	if (!err) {
		output_put(&out, text, length);
		err = output_flush(&out);
		if (!err)
			err = output_commit(&out);
		closed = output_close(&out);
		err = err ? err : closed;
	}
	if (err)
		log_error("cannot write the %s to '%s': %s", what, path, strerror(-err));
	return err;
}
