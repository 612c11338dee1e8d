"""Response templates: renamed, brought into one form, and compared.

Obverse writes a marker in three ways. In a literal it stands as it is (`"open": "<a>"`). In a pattern it is escaped, and its white
space may be looser (`<\\|a\\s*b\\|>`). And some things are made of a part of it: a set of signs without its first one (`[^\\s<]`), and
what it may be cut down to at the end of a text (`<(?:/[^>]*)?\\s*\\Z`). The first two are renamed. The third depends on the
marker's length and signs; `normal` brings it into one form on both sides.
"""

import re

LITERALS = ("open", "close", "start_anchor", "string_delims")
# What is syntax in a pattern although letters or angle brackets stand in it.
SYNTAX = r"\(\?P<\w+>|\(\?P=\w+\)|\(\?<?[=!:]|\\[A-Za-z]"


def escaped(literal):
    """The text as Obverse escapes it in a pattern: `a|b` becomes `a\\|b`."""
    return re.sub(r"[\\.^$*+?()\[\]{}|]", lambda match: "\\" + match[0], literal).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def walked(document, change, key="", path=()):
    """The document with each text of a delimiter changed by `change(text, is_pattern)`; what a transform writes stays as it is."""
    if isinstance(document, dict):
        return {k: v if k in ("transform", "defaults") else walked(v, change, k, (*path, k)) for k, v in document.items()}
    if isinstance(document, list):
        return [walked(v, change, key, path) for v in document]
    if isinstance(document, str):
        if key.endswith("pattern"):
            return change(document, True)
        if key in LITERALS:
            return change(document, False)
    return document


def loosely(marker):
    """A pattern that finds the marker in Obverse's patterns, with white space as it is, as `\\s*`, or as `\\s{0,4}` where one looks back."""
    return r"(?:\\s(?:\*|\{0,\d+\})|\s)".join(re.escape(escaped(word)) for word in re.split(r"\s+", marker))


def renamed(document, renaming):
    """The document with markers renamed, in literals and in patterns."""
    longest_first = sorted(renaming.names.items(), key=lambda item: -len(item[0]))
    finders = [(loosely(old), escaped(new)) for old, new in longest_first]
    pattern = re.compile("|".join([rf"(?P<syntax>{SYNTAX})", *(f"({old})" for old, _ in finders)]))

    def image(match):
        return match[0] if match["syntax"] else finders[match.lastindex - 2][1]

    return walked(document, lambda text, is_pattern: pattern.sub(image, text) if is_pattern else renaming(text))


ONE = r"(?:\\[^A-Za-z]|[^\\()\[\]{}|*+?.^$])"
SET = r"\[\^(?:\\.|[^\]\\])*\]"
UNIT = rf"(?:{ONE}|\\s\*|\\d\+)"
BEGINNING = rf"(?P<first>{ONE})(?P<more>(?:\(\?:{UNIT}+)*(?:\.\{{0,\d+\}})?(?:\)\?)*)"


def alternative(pattern, end):
    """Where the alternative begins that ends at a place: in `(?:a|b(?:c|d)|e)` the one that ends at 11, before `|e`, begins at 5."""
    depth, at = 0, end
    while at > 0:
        at -= 1
        if at and pattern[at - 1] == "\\":
            continue
        depth += {")": 1, "(": -1}.get(pattern[at], 0)
        if not depth and pattern[at] == "|":
            return at + 1
        if depth < 0:
            return at + (3 if pattern.startswith("(?:", at) else 1)
    return 0


def without_beginnings(pattern):
    """A pattern without what a marker may be cut down to at the end of a text.

    `(?:</s>\\s*|<(?:/(?:s)?)?\\s*\\Z)?` becomes `(?:</s>\\s*)?`: the second way is a beginning of the first, and is there only where
    the marker has two signs or more. `(?:</s>\\s*|(?:<(?:/(?:s)?)?)?\\s*\\Z)` becomes `(?:</s>\\s*|\\s*\\Z)` for the same reason."""

    def kept(match):
        if match["more"].count("(?:") != match["more"].count(")?"):
            return match[0]
        if not pattern[alternative(pattern, match.start()) :].startswith(match["first"]):
            return match[0]
        return "|\\s*" + match["end"] if match[0].startswith("|(?:") else ""

    pattern = re.sub(rf"\|\(\?:{BEGINNING}\)\?\\s\*(?P<end>\\Z|\$)", kept, pattern)
    return re.sub(rf"\|{BEGINNING}\\s\*(?P<end>\\Z|\$)", kept, pattern)


def without_first_signs(pattern, first_signs):
    """A pattern whose sets without signs (`[^\\s<]`) have `·` for the first signs of markers, here `[^\\s·]`; nothing where markers begin with
    letters, of which names are made, so that no set can keep them out."""
    mark = "" if any(sign.isalnum() for sign in first_signs) else "·"

    def replaced(match):
        members = re.findall(r"\\.|[^\\]", match[0][2:-1])
        kept = [m for m in members if (m[-1] if len(m) == 1 or not m[-1].isalpha() else m) not in first_signs]
        return "[^" + "".join(kept) + (mark if len(kept) < len(members) else "") + "]"

    return re.sub(SET, replaced, pattern)


def shortened(document):
    """The document without what markers may be cut down to. This comes before a renaming, which would rename the markers alone."""
    return walked(document, lambda text, is_pattern: without_beginnings(text) if is_pattern else text)


def normal(document, first_signs):
    """The document in the form in which documents are compared, whose sets say nothing of what markers begin with."""
    return walked(document, lambda text, is_pattern: without_first_signs(text, first_signs) if is_pattern else text)


def differences(expected, found, path=()):
    """What differs between two documents: (path, expected, found) each; None stands for nothing."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*expected, *found]):
            yield from differences(expected.get(key), found.get(key), (*path, key))
        if expected == found and list(expected) != list(found):
            yield (*path, "order"), list(expected), list(found)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from differences(one, other, (*path, index))
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield path, expected, found


def with_keys(document, names):
    """The document with other keys in the JSON that a chat template writes by hand: `"name":\\s*` becomes `"zoba":\\s*`, and so does each of
    several that may stand in one place, as in `(?:"name"|"id")\\s*:`.

    A call's object that is taken whole (`{content}`) is one whose keys are those of a message; with other keys each is named
    (`{content.zoba}`). Both are written in the second way here."""

    def key(match):
        return f'"{names.get(match[1], match[1])}"'

    changed = walked(document, lambda text, is_pattern: re.sub(r'"(\w+)"(?=(?:\|"\w+")*\)?(?:\\s\*|\s)*:)', key, text))
    fields = {name: with_placeholders(field, names) for name, field in changed.get("fields", {}).items()}
    return {**changed, "fields": fields} if "fields" in changed else changed


def with_placeholders(field, names):
    """A field with the keys in its transform renamed. `{name}` is a key where each element of a list is transformed, else a group
    of a pattern; `{content.name}` is always a key."""
    if "transform" not in field:
        return field
    of_elements = bool(field.get("transform_each"))

    def placeholder(match):
        first, *rest = match[1].split(".")
        first = names.get(first, first) if of_elements and first != "content" else first
        return "{" + ".".join([first, *(names.get(key, key) for key in rest)]) + "}"

    def walk(value):
        if isinstance(value, dict):
            if value.get("type") == "function" and value.get("function") == "{content}":
                prefix = "" if of_elements else "content."
                value = {**value, "function": {"name": "{" + prefix + "name}", "arguments": "{" + prefix + "arguments}"}}
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return re.sub(r"\{(\w+(?:\.\w+)*)\}", placeholder, value) if isinstance(value, str) else value

    changed = {**field, "transform": walk(field["transform"])}
    if of_elements and isinstance(field.get("open_pattern"), str):
        # An empty group is there for the elements that lack the key of its name.
        changed["open_pattern"] = re.sub(r"\(\?P<(\w+)>\)", lambda match: f"(?P<{names.get(match[1], match[1])}>)", field["open_pattern"])
    return changed


def without_sets(pattern):
    """A pattern with nothing in its sets without signs: `[^\\s<]` becomes `[^]`."""
    return re.sub(SET, "[^]", pattern)
