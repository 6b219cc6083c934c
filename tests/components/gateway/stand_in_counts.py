"""A stand-in for the service that counts tokens: as much of Envoy's rate limit protocol as the gateway speaks."""

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from stand_in_messages import COUNT, LONG, NUMBER, TEXT, forms

RESET_S = 17
OK, OVER = 1, 2
# Numbers are those of Envoy 1.40, service/ratelimit/v3.
FIELDS = {
    "Number": [("value", 1, COUNT)],
    "Span": [("seconds", 1, LONG)],
    "Entry": [("key", 1, TEXT), ("value", 2, TEXT)],
    "Descriptor": [("entries", 1, "Entry*"), ("hits_addend", 3, "Number")],
    "Request": [("domain", 1, TEXT), ("descriptors", 2, "Descriptor*")],
    "Status": [("code", 1, NUMBER), ("duration_until_reset", 4, "Span")],
    "Response": [("overall_code", 1, NUMBER), ("statuses", 2, "Status*")],
}
FORMS = forms("counts", FIELDS)


class Counts:
    """Counts on loopback for as long as it lives; `limits` and `used` are by tenant."""

    def __init__(self, limits: dict[str, int]):
        self.limits, self.used = limits, dict.fromkeys(limits, 0)
        self._lock = threading.Lock()
        handler = grpc.unary_unary_rpc_method_handler(
            self._answer,
            request_deserializer=FORMS["Request"].FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
        service = "envoy.service.ratelimit.v3.RateLimitService"
        self._server = grpc.server(ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(service, {"ShouldRateLimit": handler})]
        )
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def end(self):
        self._server.stop(None).wait()

    def _answer(self, request, _context):
        assert request.domain == "tokens"
        statuses = [self._one(each) for each in request.descriptors]
        overall = OVER if any(each.code == OVER for each in statuses) else OK
        return FORMS["Response"](overall_code=overall, statuses=statuses)

    def _one(self, asked):
        (entry,) = asked.entries
        assert entry.key == "tenant"
        with self._lock:
            self.used[entry.value] += asked.hits_addend.value if asked.HasField("hits_addend") else 1
            code = OVER if self.used[entry.value] > self.limits[entry.value] else OK
        return FORMS["Status"](code=code, duration_until_reset=FORMS["Span"](seconds=RESET_S))
