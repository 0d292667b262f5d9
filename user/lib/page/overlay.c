// SPDX-License-Identifier: BSD-2-Clause
#include "page/overlay.h"

#include <string.h>

#define LEAST_ROOM 64

static int overlay_add_line(void *context, struct line *l)
{
	struct overlay_run *r = context;

	if (l->kind == LINE_META) {
		json_decref(r->meta);
		r->meta = json_incref(l->tree);
	} else {
		charts_add(&r->charts, &l->sample);
	}
	return 0;
}

int overlay_add(struct overlay *o, const char *name, size_t group, struct source *src)
{
	struct overlay_run *r = &o->run[o->nr];
	size_t room = CHART_ROOM / (o->room ? o->room : 1) & ~1UL;
	int err;

	*r = (struct overlay_run){ .name = name, .group = group };
	err = charts_init(&r->charts);
	for (size_t i = 0; !err && i < NR_CHARTS; i++) {
		downsampler_done(&r->charts.sampler[i]);
		err = downsampler_init(&r->charts.sampler[i], chart_specs[i].nr,
				       room > LEAST_ROOM ? room : LEAST_ROOM);
	}
	if (!err)
		err = source_each(src, PART(LINE_META) | PART(LINE_SAMPLE), overlay_add_line, r);
	o->nr++; /* also after an error: to be freed */
	return err;
}

void overlay_done(struct overlay *o)
{
	for (size_t i = 0; i < o->nr; i++) {
		json_decref(o->run[i].meta);
		charts_done(&o->run[i].charts);
	}
	o->nr = 0;
}
