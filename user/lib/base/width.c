// SPDX-License-Identifier: BSD-2-Clause
/* Not wcwidth(): it knows only ASCII in the C locale, which most daemons and many images have. */
#include "base/width.h"

#include <stdlib.h>

struct range {
	uint32_t first, last;
};

#include "base/width_table.h"

static int range_compare(const void *key, const void *element)
{
	const uint32_t c = *(const uint32_t *)key;
	const struct range *r = element;

	return (c > r->last) - (c < r->first);
}

size_t character_width(uint32_t character)
{
	if (character < 0x300)
		return 1;
	if (bsearch(&character, without_width, sizeof(without_width) / sizeof(*without_width),
		    sizeof(*without_width), range_compare))
		return 0;
	if (bsearch(&character, wide, sizeof(wide) / sizeof(*wide), sizeof(*wide), range_compare))
		return 2;
	return 1;
}
