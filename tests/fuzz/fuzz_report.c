// SPDX-License-Identifier: BSD-2-Clause
/* A run as JSON Lines, as a page and as a picture: the data is JSON that ends no element. */
#include "fuzz.h"

#include "page/figure.h"
#include "page/page.h"
#include "page/page_run.h"

#define DATA "<script type=\"application/json\" id=\"data\">"
#define DATA_END "</script>"

/* Before and after its data the page is the same for all runs. */
static void check_page(const struct page_data *data)
{
	size_t length;
	char *text, *start, *end;
	FILE *f = open_memstream(&text, &length);

	FUZZ_HOLDS(f && !page_write(f, data) && !fclose(f));
	start = memmem(text, length, DATA, strlen(DATA));
	FUZZ_HOLDS(start);
	start += strlen(DATA);
	end = memchr(start, '<', (size_t)(text + length - start));
	FUZZ_HOLDS(end && !strncmp(end, DATA_END, strlen(DATA_END)));
	json_decref(fuzz_json(start, (size_t)(end - start)));
	free(text);
}

static void check_figure(struct report_run *r)
{
	size_t length;
	char *text;
	FILE *f = open_memstream(&text, &length);

	FUZZ_HOLDS(f && !figure_write(f, r, &(struct figure_layout){ .panel = FIGURE_ALL }) &&
		   !fclose(f));
	fuzz_is_inert(text, length);
	FUZZ_HOLDS(!strncmp(text, "<svg", 4) || !strncmp(text, "<?xml", 5));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_run r;
	struct page_data d = { 0 };
	struct source s;
	char path[32];
	int fd = fuzz_file(data, size, path);

	FUZZ_HOLDS(!source_open_file(&s, path) && !report_open(&r));
	if (!report_read(&r, &s)) {
		FUZZ_HOLDS(!report_write_data(&r, "a run", &d));
		json_decref(fuzz_json(d.json.text, d.json.used));
		check_page(&d);
		check_figure(&r);
	}
	jsonw_done(&d.json);
	report_close(&r);
	source_close(&s);
	close(fd);
	return 0;
}
