// SPDX-License-Identifier: BSD-2-Clause
#include "shell/shell_words.h"

#include <string.h>

#define NAME_OPTION "--span-name="
#define TAG_OPTION "--span-tag="

/* True if @word is one of the wrapper's own options. */
static bool own_option_take(struct shell_words *w, const char *word)
{
	const char *equals;

	if (!strncmp(word, NAME_OPTION, strlen(NAME_OPTION))) {
		word += strlen(NAME_OPTION);
		w->name = *word ? word : NULL;
		return true;
	}
	if (strncmp(word, TAG_OPTION, strlen(TAG_OPTION)) != 0)
		return false;
	word += strlen(TAG_OPTION);
	equals = strchr(word, '=');
	if (equals && equals > word && w->nr_tags < MAX_SPAN_TAGS)
		w->tags[w->nr_tags++] = word;
	return true;
}

/* How many arguments follow the option @word as its values. @is_text: it has a -c. */
static size_t option_nr_values(const char *word, bool *is_text)
{
	size_t nr = 0;

	if (word[1] == '-')
		return !strcmp(word, "--rcfile") || !strcmp(word, "--init-file");
	for (const char *c = word + 1; *c; c++) {
		nr += *c == 'o' || *c == 'O';
		*is_text |= *word == '-' && *c == 'c';
	}
	return nr;
}

static bool word_is_option(const char *word)
{
	return (*word == '-' || *word == '+') && word[1];
}

/* Options that change nothing for one command that is executed as it is. */
static bool word_is_plain_option(const char *word)
{
	return *word == '-' && strspn(word + 1, "ceu") == strlen(word + 1);
}

void shell_words_take(struct shell_words *w, char **argv)
{
	char **to = argv + 1, **from = argv + 1;
	bool is_text = false;
	size_t nr_values = 0;

	*w = (struct shell_words){ .is_plain = true };
	if (!*argv)
		return;
	for (; *from && (nr_values || word_is_option(*from)); from++) {
		if (nr_values) {
			nr_values--;
		} else if (own_option_take(w, *from)) {
			continue;
		} else if (!strcmp(*from, "--")) {
			w->is_plain = false;
			*to++ = *from++;
			break;
		} else {
			w->is_plain &= word_is_plain_option(*from);
			nr_values = option_nr_values(*from, &is_text);
		}
		*to++ = *from;
	}
	if (*from && !strcmp(*from, "-"))
		w->is_plain = false, *to++ = *from++; /* ends the options, as "--" does */
	w->is_plain &= is_text && *from && !from[1];
	if (is_text)
		w->text = *from;
	else
		w->script = *from;
	while ((*to++ = *from++))
		;
}
