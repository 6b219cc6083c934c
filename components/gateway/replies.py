"""What the proxy itself answers when it refuses, in the shape that clients of the OpenAI API know."""

from typing import Any

RETRY_AFTER_S = 2


def replies() -> dict[str, Any]:
    """Refusals as JSON; too many requests at once are 429, like too many in a minute."""
    again = [{"header": {"key": "retry-after", "value": str(RETRY_AFTER_S)}}]
    at_once = {
        "filter": {"response_flag_filter": {"flags": ["UO"]}},
        "status_code": 429,
        "headers_to_add": again,
        "body": {"inline_string": "too many requests at once for this tenant"},
    }
    of_tokens = {
        "filter": {"extension_filter": _said("request_rate_limited")},
        "body": {"inline_string": "too many tokens in a minute for this tenant"},
    }
    in_a_minute = {
        "filter": {"status_code_filter": {"comparison": {"value": {"default_value": 429, "runtime_key": "none"}}}},
        "body": {"inline_string": "too many requests in a minute for this tenant"},
    }
    error = {"message": "%LOCAL_REPLY_BODY%", "type": "gateway", "code": "%RESPONSE_CODE%"}
    return {"mappers": [at_once, of_tokens, in_a_minute], "body_format": {"json_format": {"error": error}}}


def _said(details: str) -> dict[str, Any]:
    """Replies of one filter: nothing else tells the two limits apart, both being 429."""
    kind = "type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter"
    condition = {"@type": kind, "expression": f"response.code_details == '{details}'"}
    return {"name": "envoy.access_loggers.extension_filters.cel", "typed_config": condition}
