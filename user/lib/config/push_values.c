// SPDX-License-Identifier: BSD-2-Clause
#include "config/table.h"

#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int push_choice_set(const char *choice, const char *text, char *value, char *why, size_t size)
{
	size_t length = strlen(text);

	if (text[strcspn(text, ", ")]) /* several of them are none */
		length = 0;
	for (const char *p = choice, *word; length && (word = strstr(p, text)); p = word + 1) {
		if ((word != choice && word[-1] != ' ') || !strncmp(word, "or ", 3) ||
		    (word[length] && !strchr(", ", word[length])))
			continue;
		snprintf(value, CONFIG_WORD_BYTES, "%s", text);
		return 0;
	}
	snprintf(why, size, "%s", choice);
	return -EINVAL;
}

/* The host may be a name: it is looked up when something is sent. */
static bool url_is_valid(const char *text)
{
	static const char *const schemes[] = { "http://", "https://", "udp://" };

	if (strstr(text, "precision="))
		return false;
	if (!strncmp(text, "unix:/", 6))
		return true;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		const char *host = text + strlen(schemes[i]);

		if (!strncmp(text, schemes[i], strlen(schemes[i])))
			return *host && !strchr("/?:", *host) &&
			       !memchr(host, '@', strcspn(host, "/?"));
	}
	return false;
}

int push_url_set(const char *text, char *value, char *why, size_t size)
{
	if (*text && (text[strspn(text, "!#$%&'()*+,-./0123456789:;=?@[]_~"
					"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] ||
		      !url_is_valid(text))) {
		snprintf(why, size,
			 "http://HOST:PORT/PATH, https://HOST/PATH, unix:/SOCKET or "
			 "udp://HOST:PORT, without USER:PASSWORD@ (see token_file) and precision=");
		return -EINVAL;
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

#define KEY_BYTES 64

/*
 * The key of a tag is a name as of labels in Prometheus, and none that lines have already or
 * databases take for the time.
 */
static bool tag_is_valid(const char *text, size_t length)
{
	static const char *const own[] = { "instance", "job",       "name",   "user", "kind",
					   "account",  "partition", "nested", "what", "time" };
	size_t key =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	if (!key || key > KEY_BYTES || key + 1 >= length || text[key] != '=' ||
	    isdigit((unsigned char)*text))
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strlen(own[i]) == key && !strncmp(text, own[i], key))
			return false;
	return true;
}

/* A line with a key twice is refused by databases. Finds the tag at @end among those before. */
static bool tag_is_double(const char *text, const char *end)
{
	size_t key = strcspn(end, "=") + 1;

	for (text += strspn(text, " "); text < end; text += strspn(text, " ")) {
		if (!strncmp(text, end, key))
			return true;
		text += strcspn(text, " ");
	}
	return false;
}

int push_tags_set(const char *text, char *value, char *why, size_t size)
{
	for (size_t n, at = strspn(text, " "); text[at]; at += n + strspn(text + at + n, " ")) {
		n = strcspn(text + at, " ");
		if (tag_is_valid(text + at, n) && !tag_is_double(text, text + at))
			continue;
		snprintf(why, size,
			 "KEY=VALUE, separated by spaces, with different keys of letters, digits "
			 "and _ other than instance, job, name, user, kind, account, partition, "
			 "nested, what and time");
		return -EINVAL;
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}
