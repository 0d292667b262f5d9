// SPDX-License-Identifier: BSD-2-Clause
/* The bytes of a store, which is opened, listed, shown, exported, drawn, compared, checked, merged.
 */
#include "store_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store_files f;
	struct store_read what;

	store_files_make(&f);
	store_files_put(f.hostile, data, size);
	store_files_put(f.into, f.empty, f.empty_length);
	readers_run(f.hostile, f.into, &what);
	readers_remove(f.into);
	readers_remove(f.hostile);
	return 0;
}
