// SPDX-License-Identifier: BSD-2-Clause
#include "web/pack.h"

#include "base/memory.h"
#include "http/http_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define PACK_LEVEL 3     /* larger levels take longer than a loopback or a tunnel gains */
#define PACK_WINDOW 31   /* the largest, with the head of gzip */
#define PACK_MEMORY 8    /* the default */
#define LEAST_PACKED 512 /* bytes from which on compressing is worth it */
#define PIECE_BYTES (32 << 10)

bool request_accepts_gzip(struct MHD_Connection *c)
{
	const char *all = request_header(c, MHD_HTTP_HEADER_ACCEPT_ENCODING);

	while (all && *all) {
		size_t length;

		all += strspn(all, " ");
		/* a browser that refuses it leaves it out; "gzip;q=0" counts as refused, too */
		if (!strncasecmp(all, "gzip", 4) && strchr(", ", all[4]))
			return true;
		length = strcspn(all, ",");
		all += length + (all[length] == ',');
	}
	return false;
}

/* Returns the compressed text; NULL without memory, or if it would not be shorter. */
static char *text_pack(const char *text, size_t *length)
{
	z_stream z = { .next_in = (Bytef *)text, .avail_in = (uInt)*length };
	char *out = *length < LEAST_PACKED || *length > INT32_MAX ? NULL : memory_malloc(*length);

	if (!out)
		return NULL;
	if (deflateInit2(&z, PACK_LEVEL, Z_DEFLATED, PACK_WINDOW, PACK_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(out);
		return NULL;
	}
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)*length;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
		*length = z.total_out;
	} else {
		free(out);
		out = NULL;
	}
	deflateEnd(&z);
	return out;
}

struct MHD_Response *reply_packed(struct MHD_Connection *c, char *text, size_t length)
{
	char *packed = request_accepts_gzip(c) ? text_pack(text, &length) : NULL;
	char *body = packed ? packed : text;
	struct MHD_Response *r =
		MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_FREE);

	if (packed)
		free(text);
	if (!r)
		free(body);
	else if (packed)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return r;
}

struct MHD_Response *reply_json(struct MHD_Connection *c, const struct jsonw *j)
{
	char *text = j->failed ? NULL : memory_malloc(j->used);
	struct MHD_Response *r;

	if (!text)
		return NULL;
	memcpy(text, j->text, j->used);
	r = reply_packed(c, text, j->used);
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	return r;
}

struct packer {
	z_stream z;
	pack_source_fn read;
	void *context;
	bool has_ended, is_done; /* the source; everything has been returned */
	char piece[PIECE_BYTES];
};

struct packer *packer_new(pack_source_fn read, void *context)
{
	struct packer *p = memory_calloc(1, sizeof(*p));

	if (p && deflateInit2(&p->z, PACK_LEVEL, Z_DEFLATED, PACK_WINDOW, PACK_MEMORY,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return NULL;
	}
	if (p) {
		p->read = read;
		p->context = context;
	}
	return p;
}

ssize_t packer_read(struct packer *p, char *out, size_t most)
{
	ssize_t n;
	int flush;

	p->z.next_out = (Bytef *)out;
	p->z.avail_out = (uInt)most;
	while (p->z.avail_out == most && !p->is_done) {
		if (!p->z.avail_in && !p->has_ended) {
			n = p->read(p->context, p->piece, sizeof(p->piece));
			if (n < 0)
				return n;
			p->has_ended = !n;
			p->z.next_in = (Bytef *)p->piece;
			p->z.avail_in = (uInt)n;
		}
		flush = p->has_ended ? Z_FINISH : Z_NO_FLUSH;
		p->is_done = deflate(&p->z, flush) == Z_STREAM_END;
	}
	return (ssize_t)(most - p->z.avail_out);
}

void packer_free(struct packer *p)
{
	if (p)
		deflateEnd(&p->z);
	free(p);
}
