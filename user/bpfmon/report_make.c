// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/report_make.h"

#include "base/memory.h"
#include "store/named_run.h"
#include "options/option_values.h"
#include "bpfmon/picture.h"
#include "bpfmon/whole_file.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/progress.h"
#include "bpfmon/roles/observer.h"
#include "page/page.h"
#include "page/page_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCREEN_SCALE 2 /* pixels of a PNG for 1/96 inch */
#define PRINT_SCALE (300 / 96.0)

static int report_write_page(FILE *f, struct report_run *r, const struct report_options *o,
			     const char *label)
{
	struct page_data data = { 0 };
	int err = report_write_data(r, label, &data);

	(void)o;
	if (!err)
		err = page_write(f, &data);
	jsonw_done(&data.json);
	return err;
}

static int report_write_figure(FILE *f, struct report_run *r, const struct report_options *o,
			       const char *label)
{
	(void)label;
	return figure_write(f, r, &o->layout);
}

static const struct report_format formats[] = {
	{ "html", false, report_write_page },
	{ "svg", true, report_write_figure },
	{ "png", true, report_write_figure },
	{ "pdf", true, report_write_figure },
};
#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

int report_format_parse(void *name, const char *text)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(text, formats[i].name))
			return text_parse(name, text);
	return -EINVAL;
}

static bool path_ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && path[n - m - 1] == '.' && !strcmp(path + n - m, ending);
}

static const struct report_format *report_find_format(const struct report_options *o)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (o->format ? !strcmp(o->format, formats[i].name)
			      : o->path && path_ends_in(o->path, formats[i].name))
			return &formats[i];
	return NULL;
}

const struct report_format *report_choose_format(const struct report_options *o)
{
	const struct report_format *f = report_find_format(o);
	bool is_part = o->panel || o->layout.width > 0;

	if (!f && o->path && path_extension(o->path)) {
		log_error("--output does not take '%s': a report is .html, .svg, .png or .pdf; or "
			  "name the format, as in -f html",
			  o->path);
		return NULL;
	}
	f = f ? f : &formats[is_part];
	if (is_part && !f->is_picture) {
		log_error("--panel and --width are for pictures: -f svg, png or pdf");
		return NULL;
	}
	return f;
}

/* run.jsonl -> run.html, 42 -> 42.html, the last run as its number; to be freed, NULL after one
 * line to the user. */
static char *report_choose_path(const struct report_options *o, const struct report_format *format,
				const char *label)
{
	const char *typed = o->common.words[0];
	const char *run = typed && *typed != '~' ? typed : label;
	size_t n = strlen(run);
	char *path = NULL;

	if (o->path)
		path = memory_strdup(o->path);
	else if (memory_asprintf(&path, "%.*s.%s", (int)(path_ends_in(run, "jsonl") ? n - 6 : n),
				 run, format->name) < 0)
		path = NULL;
	if (!path)
		log_error("out of memory for the report's name");
	return path;
}

static int report_load(struct report_run *r, const struct report_options *o, char *label)
{
	struct source source;
	int err = named_run_open(&source, &o->store, o->common.words[0], label);

	if (err)
		return err; /* reported already */
	err = report_open(r);
	if (!err)
		err = report_read(r, &source);
	if (err == -ENODATA)
		log_error("'%s' has no samples: there is nothing to draw", label);
	else if (err)
		log_error("cannot read '%s': %s", label, source_why(&source, err));
	source_close(&source);
	return err;
}

/* Names those that there are. */
static int panel_check(const struct report_run *r, const struct report_options *o,
		       const char *label)
{
	char there[100] = "";
	size_t n = 0;

	if (!o->panel || figure_has_panel(r, o->layout.panel))
		return 0;
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (figure_has_panel(r, i))
			n += (size_t)snprintf(there + n, sizeof(there) - n, "%s%s", n ? ", " : "",
					      chart_specs[i].name);
	log_error("'%s' has nothing to draw in the panel '%s'; it has %s", label, o->panel, there);
	return -ENOENT;
}

static int report_render(struct report_run *r, const struct report_format *format,
			 const struct report_options *o, const char *label, char **text,
			 size_t *length)
{
	FILE *f = memory_open_memstream(text, length);
	int err = f ? format->write(f, r, o, label) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (err)
		log_error("cannot make the report of '%s': %s", label, strerror(-err));
	return err;
}

/* Replaces the SVG @text by what another program makes of it. */
static int report_convert(const struct report_run *r, const struct report_format *format,
			  const struct report_options *o, const char *path, char **text,
			  size_t *length)
{
	struct picture p = { .format = format->name };
	char *drawn;
	int err;

	/* for print the density of a printer, else that of a good screen */
	p.scale = o->layout.width > 0 ? PRINT_SCALE : SCREEN_SCALE;
	figure_measure(r, &o->layout, &p.width, &p.height);
	err = picture_draw(&p, path, *text, *length, &drawn, length);
	if (!err) {
		free(*text);
		*text = drawn;
	} else {
		free(drawn);
	}
	return err;
}

/* Takes the text of the run that was read to its file. */
static int report_put(const struct report_run *r, const struct report_options *o,
		      const struct report_format *format, const char *path, char **text,
		      size_t length)
{
	bool is_drawn = format->is_picture && strcmp(format->name, "svg") != 0;
	int err = is_drawn ? report_convert(r, format, o, path, text, &length) : 0;

	if (!err)
		err = whole_file_write("report", path, o->force, *text, length);
	if (!err && !o->quiet)
		whole_file_announce("report", path, NULL);
	return err;
}

int report_make(const struct report_options *o, const struct report_format *format)
{
	__cleanup(freep) char *text = NULL;
	char label[RUN_LABEL_BYTES], *path;
	struct report_run run = { 0 };
	size_t length;
	int err;

	progress_begin("reading the run", "lines", 0);
	err = report_load(&run, o, label);
	if (!err)
		err = panel_check(&run, o, label);
	if (!err)
		err = report_render(&run, format, o, label, &text, &length);
	progress_end();
	if (!err) {
		path = report_choose_path(o, format, label);
		err = path ? report_put(&run, o, format, path, &text, length) : -ENOMEM;
		free(path);
	}
	report_close(&run);
	return err;
}
