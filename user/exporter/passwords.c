// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/passwords.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "config/user_files.h"

#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSWORDS 100

static int password_add(struct passwords *p, const char *user, const char *hash)
{
	struct password *list = memory_realloc(p->list, (p->nr + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	p->list = list;
	list[p->nr].user = memory_strdup(user);
	list[p->nr].hash = memory_strdup(hash);
	p->nr++;
	return list[p->nr - 1].user && list[p->nr - 1].hash ? 0 : -ENOMEM;
}

/* Hashes of DES and MD5 can be guessed too fast. */
static bool hash_is_strong(const char *hash)
{
	return crypt_checksalt(hash) == CRYPT_SALT_OK;
}

static int passwords_take_line(struct passwords *p, char *line)
{
	char *hash;

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line || *line == '#')
		return 0;
	hash = strchr(line, ':');
	if (!hash || hash == line || p->nr == MAX_PASSWORDS)
		return -EBADMSG;
	*hash++ = '\0';
	return hash_is_strong(hash) ? password_add(p, line, hash) : -EBADMSG;
}

int passwords_read(struct passwords *p, const char *path, char *why, size_t size)
{
	int fd = secret_open(path, why, size);
	__cleanup(fclosep) FILE *f = fd >= 0 ? memory_fdopen(fd, "r") : NULL;
	char line[1024];
	int err = f ? 0 : -errno;

	*p = (struct passwords){ 0 };
	if (fd < 0)
		return fd;
	for (unsigned nr = 1; !err && fgets(line, sizeof(line), f); nr++) {
		err = passwords_take_line(p, line);
		if (err == -EBADMSG) {
			snprintf(why, size,
				 "%s:%u: expected user:hash with a strong hash, as from 'mkpasswd "
				 "-m yescrypt', in at most %d lines",
				 path, nr, MAX_PASSWORDS);
			return err;
		}
	}
	if (!err && ferror(f))
		err = -EIO;
	if (err)
		snprintf(why, size, "%s: %s", path, strerror(-err));
	if (!err && !p->nr) {
		snprintf(why, size, "%s has no line with user:hash", path);
		err = -EBADMSG;
	}
	return err;
}

/* Compares in constant time. */
static bool text_is_same(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned differs = 0;

	if (n != strlen(b))
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

bool passwords_check(const struct passwords *p, const char *user, const char *password)
{
	struct crypt_data *data = memory_calloc(1, sizeof(*data));
	const struct password *found = NULL;
	const char *hash;
	bool is_same;

	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->list[i].user, user))
			found = &p->list[i];
	if (!data || !p->nr) {
		free(data);
		return false;
	}
	/* an unknown user costs the time of another user's hash */
	hash = crypt_r(password, (found ? found : p->list)->hash, data);
	is_same = found && hash && *hash != '*' && text_is_same(hash, found->hash);
	explicit_bzero(data, sizeof(*data));
	free(data);
	return is_same;
}

void passwords_done(struct passwords *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->list[i].user);
		free(p->list[i].hash);
	}
	free(p->list);
	*p = (struct passwords){ 0 };
}
