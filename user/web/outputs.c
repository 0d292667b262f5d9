// SPDX-License-Identifier: BSD-2-Clause
/* What `bpfmon` writes to a file is sent as it comes: exports, comparisons; and what edit says. */
#include "web/web.h"

#include "base/buffer.h"
#include "base/json.h"
#include "export/export.h"
#include "web/child.h"
#include "web/web_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (64 << 10)
#define FLOWS 16
#define COMPARED 100 /* as many runs as there are curves */
#define SAID_BYTES 4000

/* A child whose output is being sent. */
struct flow {
	struct child child;
	struct web *web;
	size_t used, at; /* of the first piece, which was read to see whether there is one */
	char piece[PIECE_BYTES];
};

static ssize_t flow_read(void *context, uint64_t at, char *out, size_t most)
{
	struct flow *f = context;
	ssize_t n;

	(void)at;
	if (f->at < f->used) {
		n = f->used - f->at < most ? (ssize_t)(f->used - f->at) : (ssize_t)most;
		memcpy(out, f->piece + f->at, (size_t)n);
		f->at += (size_t)n;
		return n;
	}
	n = child_read(&f->child, out, most);
	return n > 0 ? n : n ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

static void flow_free(void *context)
{
	struct flow *f = context;

	child_end(&f->child);
	f->web->flows--;
	free(f);
}

/* NULL: it could not start; without output there is an answer that says so. */
static struct MHD_Response *flow_open(struct web *w, char *const *words, bool as_file,
				      unsigned *status)
{
	struct flow *f = w->flows < FLOWS ? calloc(1, sizeof(*f)) : NULL;
	struct MHD_Response *r;
	ssize_t n;

	if (!f || child_start(&f->child, w->program, words, as_file, false)) {
		free(f);
		return NULL;
	}
	f->web = w;
	w->flows++;
	n = child_read(&f->child, f->piece, sizeof(f->piece));
	f->used = n > 0 ? (size_t)n : 0;
	*status = MHD_HTTP_OK;
	r = n > 0 ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, flow_read, f,
						      flow_free)
		  : reply_text("bpfmon could not make it; bpfmon serve has said why.\n",
			       MHD_HTTP_NOT_FOUND, status);
	if (!r || n <= 0)
		flow_free(f);
	return r;
}

/* Of a format with several files one is sent; they are made in a folder that is removed. */
static int export_make_file(struct web *w, char **words, size_t nr, const char *suffix,
			    const struct export_format *format)
{
	char folder[] = "/tmp/bpfmon-web-XXXXXX", path[64], piece[512];
	struct child child;
	int fd = -1;

	if (!mkdtemp(folder))
		return -errno;
	snprintf(path, sizeof(path), "%s/run", folder);
	words[nr++] = (char *)"-o";
	words[nr++] = path;
	words[nr] = NULL;
	if (!child_start(&child, w->program, words, false, false)) {
		while (child_read(&child, piece, sizeof(piece)) > 0)
			;
		child_end(&child);
	}
	for (size_t i = 0; i < EXPORT_DOCUMENTS && format->documents[i].write; i++) {
		snprintf(path, sizeof(path), "%s/run%s", folder, format->documents[i].suffix);
		if (!strcmp(format->documents[i].suffix, suffix))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		unlink(path);
	}
	rmdir(folder);
	return fd;
}

static struct MHD_Response *export_send_file(int fd, unsigned *status)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return reply_text("bpfmon could not make it; bpfmon serve has said why.\n",
				  MHD_HTTP_NOT_FOUND, status);
	*status = MHD_HTTP_OK;
	return MHD_create_response_from_fd((size_t)st.st_size, fd);
}

static void export_name(struct MHD_Response *r, const char *ref, const char *format,
			const char *suffix)
{
	char name[512];

	snprintf(name, sizeof(name), "attachment; filename=\"run-%s%s%s%s\"", ref,
		 *suffix ? "" : ".", *suffix ? "" : format, suffix);
	for (char *p = name + sizeof("attachment;"); *p; p++)
		if (*p == ':')
			*p = '-';
	MHD_add_response_header(r, "Content-Disposition", name);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
}

static bool format_has_suffix(const struct export_format *f, const char *suffix)
{
	for (size_t i = 0; i < EXPORT_DOCUMENTS && f->documents[i].write; i++)
		if (!strcmp(f->documents[i].suffix, suffix))
			return true;
	return false;
}

struct MHD_Response *reply_export(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status)
{
	const char *name = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "format");
	const char *suffix = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "part");
	const struct export_format *f = name ? export_find(name) : NULL;
	char *words[16] = { (char *)"bpfmon", (char *)"export", (char *)ref->text, (char *)"-f" };
	struct MHD_Response *r;
	size_t nr = 4;

	suffix = suffix ? suffix : "";
	if (!f || !format_has_suffix(f, suffix))
		return reply_text("There is no such format.\n", MHD_HTTP_BAD_REQUEST, status);
	words[nr++] = (char *)f->name;
	words[nr++] = (char *)"-q";
	nr += web_put_store(w, ref->of_node, words + nr);
	r = f->documents[1].write
		    ? export_send_file(export_make_file(w, words, nr, suffix, f), status)
		    : flow_open(w, words, false, status);
	if (r && *status == MHD_HTTP_OK)
		export_name(r, ref->text, f->name, suffix);
	return r;
}

struct compared_words {
	char *list[COMPARED + 12];
	size_t nr, runs;
	bool of_node, is_bad;
};

static enum MHD_Result compared_add(void *context, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct compared_words *w = context;

	(void)kind;
	if (strcmp(key, "run") != 0)
		return MHD_YES;
	if (!value || !(w->of_node ? job_ref_is_valid : run_ref_is_valid)(value) ||
	    w->runs == COMPARED)
		w->is_bad = true;
	else {
		w->list[w->nr++] = (char *)value;
		w->runs++;
	}
	return MHD_YES;
}

struct MHD_Response *reply_comparison(struct web *w, struct MHD_Connection *c, unsigned *status)
{
	struct compared_words words = { .list = { (char *)"bpfmon", (char *)"compare" }, .nr = 2 };
	struct MHD_Response *r;

	words.of_node = request_is_of_node(c);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, compared_add, &words);
	if (words.is_bad || words.runs < 2)
		return reply_text("Two runs or more are needed: /compare?run=41&run=42\n",
				  MHD_HTTP_BAD_REQUEST, status);
	words.list[words.nr++] = (char *)"--html";
	words.list[words.nr++] = (char *)CHILD_OUTPUT;
	words.list[words.nr++] = (char *)"--force";
	words.nr += web_put_store(w, words.of_node, words.list + words.nr);
	r = flow_open(w, words.list, true, status);
	if (r && *status == MHD_HTTP_OK) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
					"text/html; charset=utf-8");
		/* the page has the rest, with a nonce of its own */
		MHD_add_response_header(r, "Content-Security-Policy",
					"default-src 'none'; script-src 'unsafe-inline'; style-src "
					"'unsafe-inline'; frame-ancestors 'none'");
	}
	return r;
}

struct MHD_Response *reply_formats(unsigned *status)
{
	const struct export_format *f;
	struct MHD_Response *r = NULL;
	struct jsonw j = { 0 };

	jsonw_array(&j, NULL);
	for (size_t i = 0; (f = export_at(i)); i++)
		for (size_t k = 0; k < EXPORT_DOCUMENTS && f->documents[k].write; k++) {
			jsonw_object(&j, NULL);
			jsonw_string(&j, "name", f->name);
			jsonw_string(&j, "part", f->documents[k].suffix);
			jsonw_string(&j, "help", f->help);
			jsonw_object_end(&j);
		}
	jsonw_array_end(&j);
	if (!j.failed)
		r = MHD_create_response_from_buffer(j.used, j.text, MHD_RESPMEM_MUST_COPY);
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	jsonw_done(&j);
	*status = MHD_HTTP_OK;
	return r;
}

struct MHD_Response *reply_edit(struct web *w, const char *ref, char *const *words,
				unsigned *status)
{
	char *all[CHILD_WORDS] = { (char *)"bpfmon", (char *)"edit", (char *)ref },
	     said[SAID_BYTES];
	size_t nr = 3, used = 0;
	struct child child;
	ssize_t n;

	nr += web_put_store(w, false, all + nr);
	for (; *words && nr < CHILD_WORDS - 1; words++)
		all[nr++] = *words;
	if (child_start(&child, w->program, all, false, true))
		return NULL;
	while ((n = child_read(&child, said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	return reply_text(said, child_end(&child) ? MHD_HTTP_CONFLICT : MHD_HTTP_OK, status);
}
