// SPDX-License-Identifier: BSD-2-Clause
#include "store/keep.h"

#include <errno.h>

static int stream_copy(FILE *from, FILE *to, uint64_t most_bytes)
{
	char part[8192];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), from))) {
		if (n > most_bytes)
			return -EFBIG;
		most_bytes -= n;
		if (fwrite(part, 1, n, to) != n)
			return -errno;
	}
	return ferror(from) || fflush(to) ? -errno : 0;
}

int source_keep(FILE **f, uint64_t most_bytes)
{
	FILE *kept = tmpfile();
	int err = kept ? stream_copy(*f, kept, most_bytes) : -errno;

	fclose(*f);
	if (err && kept)
		fclose(kept);
	*f = err ? NULL : kept;
	return err;
}
