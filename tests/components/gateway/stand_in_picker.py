"""A stand-in for llm-d's picker: the part of Envoy's external processing that the gateway's tests need.

It reads a request to its end, then names a replica or refuses, and hands the answer on as it is, as the real one does
(test_real_picker.py runs that one). The messages are those of Envoy's API, envoy/service/ext_proc/v3, with the fields
that are used here.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from stand_in_messages import BOOL, BYTES, NUMBER, TEXT, forms

METHOD = "envoy.service.ext_proc.v3.ExternalProcessor"
DESTINATION = "x-gateway-destination-endpoint"
FIELDS = {
    "HeaderValue": [("key", 1, TEXT), ("value", 2, TEXT), ("raw_value", 3, BYTES)],
    "HeaderMap": [("headers", 1, "HeaderValue*")],
    "HttpHeaders": [("headers", 1, "HeaderMap"), ("end_of_stream", 3, BOOL)],
    "HttpBody": [("body", 1, BYTES), ("end_of_stream", 2, BOOL)],
    "Nothing": [],
    "Request": [
        ("request_headers", 2, "HttpHeaders"),
        ("response_headers", 3, "HttpHeaders"),
        ("request_body", 4, "HttpBody"),
        ("response_body", 5, "HttpBody"),
        ("response_trailers", 7, "Nothing"),
    ],
    "HeaderOption": [("header", 1, "HeaderValue"), ("append_action", 3, NUMBER)],
    "HeaderMutation": [("set_headers", 1, "HeaderOption*")],
    "Streamed": [("body", 1, BYTES), ("end_of_stream", 2, BOOL)],
    "BodyMutation": [("streamed_response", 3, "Streamed")],
    "Common": [("header_mutation", 2, "HeaderMutation"), ("body_mutation", 3, "BodyMutation")],
    "Changed": [("response", 1, "Common")],
    "HttpStatus": [("code", 1, NUMBER)],
    "Immediate": [("status", 1, "HttpStatus"), ("body", 3, BYTES)],
    "Response": [
        ("request_headers", 1, "Changed"),
        ("response_headers", 2, "Changed"),
        ("request_body", 3, "Changed"),
        ("response_body", 4, "Changed"),
        ("response_trailers", 6, "Nothing"),
        ("immediate_response", 7, "Immediate"),
    ],
}  # fmt: skip


FORMS = forms("picking", FIELDS)


class Picker:
    """One picker on loopback; `names` is the replica that it names, or None: then it refuses with 429."""

    def __init__(self, names: str | None):
        self.names = names
        self.asked: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.ends = threading.Event()
        self._server = grpc.server(ThreadPoolExecutor(32))
        answer = grpc.stream_stream_rpc_method_handler(
            self._process, FORMS["Request"].FromString, FORMS["Response"].SerializeToString
        )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(METHOD, {"Process": answer}),))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def end(self):
        """As a killed process ends: streams that are open are cut."""
        self.ends.set()
        self._server.stop(0).wait()

    def _process(self, requests, _context):
        body = b""
        for request in requests:
            if request.HasField("request_headers"):
                headers = request.request_headers.headers.headers
                self.asked.append({each.key: each.value or each.raw_value.decode() for each in headers})
                if request.request_headers.end_of_stream:
                    yield self._choice()
            elif request.HasField("request_body"):
                body += request.request_body.body
                if request.request_body.end_of_stream:
                    self.bodies.append(body)
                    yield self._choice()
                    if self.names:
                        yield FORMS["Response"](request_body=_handed_on(body, end=True))
            elif request.HasField("response_headers"):
                yield FORMS["Response"](response_headers={})
            elif request.HasField("response_body"):
                part = request.response_body
                yield FORMS["Response"](response_body=_handed_on(part.body, end=part.end_of_stream))
            elif request.HasField("response_trailers"):
                yield FORMS["Response"](response_trailers={})

    def _choice(self):
        if self.names is None:
            return FORMS["Response"](immediate_response={"status": {"code": 429}, "body": b"full"})
        option = {"header": {"key": DESTINATION, "raw_value": self.names.encode()}, "append_action": 2}
        return FORMS["Response"](request_headers={"response": {"header_mutation": {"set_headers": [option]}}})


def _handed_on(body: bytes, *, end: bool) -> dict:
    """A part of a body, as it came."""
    return {"response": {"body_mutation": {"streamed_response": {"body": body, "end_of_stream": end}}}}
