"""The reference's parser with an account of the text that it discards, which it keeps none of."""

from transformers.utils.chat_parsing.response_parser import ResponseParser


class Discarding(ResponseParser):
    """`discarded` has the texts of the response that went nowhere, each stretch of it one text."""

    def __init__(self, *arguments, **others):
        self.discarded, self.end, self.begin = [], 0, None
        super().__init__(*arguments, **others)
        # What stands before this is the prefix's.
        self.begin = len(self._buffer)

    def _accumulate(self, events, text):
        if self._current is None and text:
            self.discard(self._pos, text)
        super()._accumulate(events, text)

    def discard(self, start, text):
        touches, self.end = start == self.end, start + len(text)
        text = "" if self.begin is None else text[max(self.begin - start, 0) :]
        if text and touches and self.discarded:
            self.discarded[-1] += text
        elif text:
            self.discarded.append(text)

    def finalize(self):
        ended = super().finalize()
        # A parser that has given up has read no further than this.
        if self._pos < len(self._buffer):
            self.discard(self._pos, self._buffer[self._pos :])
        return ended
