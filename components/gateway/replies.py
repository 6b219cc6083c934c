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
    in_a_minute = {
        "filter": {"status_code_filter": {"comparison": {"value": {"default_value": 429, "runtime_key": "none"}}}},
        "body": {"inline_string": "too many requests in a minute for this tenant"},
    }
    error = {"message": "%LOCAL_REPLY_BODY%", "type": "gateway", "code": "%RESPONSE_CODE%"}
    return {"mappers": [at_once, in_a_minute], "body_format": {"json_format": {"error": error}}}
