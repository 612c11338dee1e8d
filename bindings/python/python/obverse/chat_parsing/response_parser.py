"""`transformers.utils.chat_parsing.response_parser` of 5.23, for whoever imports the parser from there."""

from . import ResponseParser, parse_response

__all__ = ["ResponseParser", "parse_response"]
