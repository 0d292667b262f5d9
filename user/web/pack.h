/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies that are compressed for browsers that accept it, as over an SSH tunnel. */
#ifndef WEB_PACK_H
#define WEB_PACK_H

#include "base/json.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns true if the header Accept-Encoding of the request names gzip. */
bool request_accepts_gzip(struct MHD_Connection *c);
/* Makes a reply of @text, which it takes over. Returns NULL without memory. */
struct MHD_Response *reply_packed(struct MHD_Connection *c, char *text, size_t length);
/* The same of a JSON text, which is copied. */
struct MHD_Response *reply_json(struct MHD_Connection *c, const struct jsonw *j);

/* Returns bytes read, 0 at the end, or a negative number after an error. */
typedef ssize_t (*pack_source_fn)(void *context, void *out, size_t size);

struct packer;

/* Returns NULL without memory. */
struct packer *packer_new(pack_source_fn read, void *context);
/* Reads the next compressed bytes. Returns like the source. */
ssize_t packer_read(struct packer *p, char *out, size_t most);
void packer_free(struct packer *p);

#endif
