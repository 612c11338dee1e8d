"""Markers of a chat template, and maps that rename them.

A marker is a piece of text with signs around it, such as `<think>`, `[/INST]` or `§over§`, or the beginning of a tag up to where a
value is written into it, such as `<function=`. What counts is the shape; there is no list of names.
"""

import functools
import os.path
import re
import unicodedata

# A back quote is none of them: prose puts words between back quotes that are no markers, as in "answer with `text`".
SIGN = r"[^\w\s\"'`\\,.:;!?/<>(){}\[\]]"
INNER = r"[/#]?\w(?:[\w /.:\-]{0,40}\w)?"
TAGS = [
    rf"<(?P<bar>{SIGN})[^\n<>]{{1,60}}(?P=bar)>",  # <|a b|>: whatever stands between the signs
    r"<[^\s<>\"'\\{}()]{1,60}>",  # <a>, </a>, <a/>, <|a>, </>
    r"<[^\s<>\"'\\{}()=]+(?: [\w:.\-]+)*=",  # <a= and <a b=: what begins a tag
]
# §a§, %%a%%, #~a~#: behind the word the signs stand in the other order.
SIGNS = (
    rf"(?<!\w)(?<!{SIGN})(?P<one>{SIGN})(?P<two>{SIGN})?(?P<three>{SIGN})?"
    rf"{INNER}(?(three)(?P=three))(?(two)(?P=two))(?P=one)(?!{SIGN})"
)


def closing(sign):
    """The bracket that closes the one given, by Unicode: `⟧` for `⟦`; None for a sign that opens nothing."""
    if sign == "<":
        return ">"
    if unicodedata.category(sign) in ("Ps", "Pi"):
        for step in (1, 2, 16):
            other = chr(ord(sign) + step)
            if unicodedata.category(other) in ("Pe", "Pf"):
                return other
    return None


def bracketed(opening, count):
    """The shape of a word in brackets, such as `[a]` or `((a))`, but of no number, which may be JSON, and of nothing like `f(x)`."""
    opens, closes = re.escape(opening), re.escape(closing(opening))
    return rf"(?<!\w){opens}{{{count}}}(?!\d+{closes}){INNER}{closes}{{{count}}}"


@functools.cache
def shapes(openings):
    """The shapes of markers as one pattern, with these opening brackets beside tags."""
    return re.compile("|".join([*TAGS, *(bracketed(sign, count) for sign in openings for count in (3, 2, 1)), SIGNS]))


def found_in(text):
    """The markers that stand in a text, each as often as it does: `a <b> c` has `<b>`."""
    openings = "".join(sorted({c for c in text if c != "<" and closing(c)}))
    return [match[0] for match in shapes(openings).finditer(text)]


def candidates(texts, special_tokens):
    """The markers of a chat template: those that stand whole in its texts, and its special tokens."""
    found = dict.fromkeys(token for token in special_tokens if token)
    for text in texts:
        found.update(dict.fromkeys(found_in(text)))
    return list(found)


def made_of_parts(renders, texts, whole):
    """The markers that renders show and that hold no marker of the source whole: `<|user|>`, where it is `"<|" ~ role ~ "|>"`, but
    not `<function=f>`, where it is `"<function=" ~ name ~ ">"`."""
    everything = "\0".join(texts)
    shown = {marker for render in renders for marker in found_in(render)}
    return sorted(one for one in shown if one not in everything and not any(marker in one for marker in whole))


def are_alike(one, other):
    """Whether two markers end alike and differ by two characters at most before that, as `<a>` and `</a>` do."""
    begin, end = len(os.path.commonprefix([one, other])), len(os.path.commonprefix([one[::-1], other[::-1]]))
    end = min(end, len(one) - begin, len(other) - begin)
    return one != other and begin > 0 and end > 2 and max(len(one), len(other)) - begin - end <= 2


def told_by_likeness(markers, texts):
    """The markers of which nothing but their likeness to another one tells where they begin or end, and those others: `<a>`, where the source
    has `</a>` and writes `<bot><a>` alone, so that `<bot>` and `<a>` are never seen apart."""
    found = set()
    for marker in markers:
        places = [(text[: match.start()], text[match.end() :]) for text in texts for match in re.finditer(re.escape(marker), text)]
        others = [other for other in markers if other != marker]
        is_glued = places and all(before.endswith(tuple(others)) or behind.startswith(tuple(others)) for before, behind in places)
        alike = [other for other in others if are_alike(marker, other)] if is_glued else []
        found.update([marker, *alike] if alike else [])
    return found


def inner(marker):
    """The word of a marker, without the signs around it: `/think` for `</think>`, `a_b` for `<|a b|>`."""
    word = re.sub(r"\s+", "_", marker.replace('"', "quote"))
    word = re.sub(r"[^\w/=:.\-]", "", word)
    return word or "x"


def syllables(index, consonants, vowels, count):
    """A made-up word of `count` syllables, another one for each index."""
    word = ""
    for _ in range(count):
        index, vowel = divmod(index, len(vowels))
        index, consonant = divmod(index, len(consonants))
        word += consonants[consonant] + vowels[vowel]
    return word


def spread(index, consonants, vowels):
    """A made-up word of three syllables, another one for each index. The first sixty have no syllable in common in the same place.

    Markers that differ little are taken for the two ends of one thing, as `<a>` and `</a>` are: a renaming must not make that of others."""
    count = len(consonants) * len(vowels)
    places = enumerate((11, 13, 17))
    return "".join(syllables((index * step + index // count * place) % count, consonants, vowels, 1) for place, step in places)


def three_signs(_, index):
    """Three signs that stand in no other image."""
    return "".join(chr(0x2801 + 3 * index + place) for place in range(3))


# How a marker is written anew, of its word and its number. No image is a part of another: words are as long as each other and begin
# with a letter that they have nowhere else, and the others have signs at both ends.
MAPS = {
    "brackets": lambda word, index: f"⟦{word}⟧",
    "bangs": lambda word, index: "{!" + word + "!}",
    "tildes": lambda word, index: f"#~{word}~#",
    "pattern": lambda word, index: f"^{word}.*$",
    "words": lambda word, index: "K" + spread(index, "bdfglmnprstv", "aeiou"),
    "signs": lambda word, index: chr(0x2630 + index),
    "script": lambda word, index: "ჟ" + spread(index, "ბგდვზთკლმნპრსტ", "აეიოუ"),
}
# Whether the image is made of the marker's word, and so can be made another one by a longer word.
OF_WORDS = ("brackets", "bangs", "tildes", "pattern")


# Where markers that were alike are so no longer.
UNLIKE = ("words", "script", "signs")


class NoImages(Exception):
    """No images were found that are told apart from all other text."""


def beside_others(markers, texts):
    """The markers that a text of the source has right beside something else, such as `<a>` and `<b>` of `<a>user<b>`."""

    def is_beside(text, marker):
        places = ((text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]) for match in re.finditer(re.escape(marker), text))
        return any(before.strip() or behind.strip() for before, behind in places)

    return {marker for marker in markers if any(is_beside(text, marker) for text in texts)}


def images(markers, name, texts, longer=()):
    """An image for each marker, none of which is a part of another or of any text given. Those that are to be longer have three signs.

    With `brackets`, `<a>` becomes `⟦a⟧`; a `<|a|>` beside it becomes `⟦a2⟧`."""
    everything = "\0".join(texts)
    result, number = {}, 0
    for index, marker in enumerate(markers):
        make = three_signs if marker in longer else MAPS[name]
        for attempt in range(1, 200):
            word = inner(marker) + (str(attempt) if attempt > 1 and name in OF_WORDS else "")
            image = make(word, number)
            number += name not in OF_WORDS
            if image not in everything and not any(image in other or other in image for other in result.values()):
                result[marker] = image
                break
        else:
            raise NoImages(f"no image for marker {index}")
    return result


class Renaming:
    """A renaming of markers in texts: with `{"<a>": "⟦a⟧"}` the text `x<a>y` becomes `x⟦a⟧y`."""

    def __init__(self, names):
        self.names = names
        longest_first = sorted(names, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, text):
        return self.pattern.sub(lambda match: self.names[match[0]], text)


class Signs:
    """A renaming of single signs wherever they stand in the source's texts: with `{"<": "‹"}` the text `<a` becomes `‹a`.

    It commutes with putting texts together and taking them apart, and so renames markers that are made of parts as well."""

    def __init__(self, names):
        self.names = names

    def __call__(self, text):
        return text.translate(str.maketrans(self.names))
