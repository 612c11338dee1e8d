"""`transformers.utils.chat_parsing.response_templates` of 5.23, for whoever loads response templates from there."""

from . import ResponseTemplate, load_response_template

__all__ = ["ResponseTemplate", "load_response_template"]
