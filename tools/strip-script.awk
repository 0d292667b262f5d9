# SPDX-License-Identifier: BSD-2-Clause
# Writes a JavaScript file without comments, and without the white space that only eyes need. It relies on what
# Biome sees to: each statement ends with a semicolon, so that no end of a line means one.
#
# Usage: awk -f tools/strip-script.awk FILE.js

function is_word(c) { return c ~ /[A-Za-z0-9_$]/ || c > "~" }

# The end of what @quote encloses from @at on; in a template an expression may hold others.
function skip_text(at, quote,    c) {
	for (at++; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (c == "\\") at++
		else if (quote == "`" && c == "$" && substr(text, at + 1, 1) == "{") at = skip_expression(at + 2)
		else if (quote == "/" && c == "[") at = skip_text(at, "]")
		else if (c == quote) return at
	}
	return at
}

# The end of the expression of a template.
function skip_expression(at,    c) {
	for (; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (c == "}") return at
		if (c == "{") at = skip_expression(at + 1)
		else if (index("'\"`", c) || (c == "/" && index("(,=:[!&|?{", substr(text, at - 1, 1)))) at = skip_text(at, c)
	}
	return at
}

# A comma or semicolon waits for what follows: before a bracket that closes it is not needed.
function put(part) {
	if (last == "," && index(")]}", substr(part, 1, 1))) last = ""
	else if (last == ";" && part == "}") last = ""
	else if (last == "," || last == ";") printf "%s", last
	last = substr(part, length(part), 1)
	if (part != "," && part != ";") printf "%s", part
}

# White space stays between two words, and between signs that would become another one.
function put_after_space(next_char) {
	if (last == "") return
	if ((is_word(last) && is_word(next_char)) || (index("+-/", last) && index("+-/", next_char))) put(" ")
}

{ text = text $0 "\n" }

END {
	sub(/"use strict";\n/, "", text)
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		two = substr(text, i, 2)
		if (two == "//") {
			while (substr(text, i, 1) != "\n") i++
			is_space = 1
		} else if (two == "/*") {
			i += index(substr(text, i + 2), "*/") + 2
			is_space = 1
		} else if (index(" \t\n", c)) {
			is_space = 1
			if (two ~ /^\n[a-z]/ && last != "") { put("\n"); is_space = 0 } # a line for each declaration
		} else {
			if (is_space) put_after_space(c)
			is_space = 0
			end = i
			if (index("'\"`", c)) end = skip_text(i, c)
			else if (c == "/" && (last == "" || index("(,=:[!&|?{};>", last))) end = skip_text(i, "/")
			put(substr(text, i, end - i + 1))
			i = end
		}
	}
	put("\n")
}
