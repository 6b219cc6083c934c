"""A stand-in for the service that counts tokens: as much of Envoy's rate limit protocol as the gateway speaks."""

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

RESET_S = 17
OK, OVER = 1, 2
F = descriptor_pb2.FieldDescriptorProto
# Message, then its fields: name, number, type (a message's by its name), repeated. Numbers are those of Envoy 1.40.
FORMS = {
    "Number": [("value", 1, F.TYPE_UINT64, False)],
    "Span": [("seconds", 1, F.TYPE_INT64, False)],
    "Entry": [("key", 1, F.TYPE_STRING, False), ("value", 2, F.TYPE_STRING, False)],
    "Descriptor": [("entries", 1, "Entry", True), ("hits_addend", 3, "Number", False)],
    "Request": [("domain", 1, F.TYPE_STRING, False), ("descriptors", 2, "Descriptor", True)],
    "Status": [("code", 1, F.TYPE_INT32, False), ("duration_until_reset", 4, "Span", False)],
    "Response": [("overall_code", 1, F.TYPE_INT32, False), ("statuses", 2, "Status", True)],
}


def _forms() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(name="counts.proto", package="counts", syntax="proto3")
    for name, fields in FORMS.items():
        form = file.message_type.add(name=name)
        for key, number, kind, repeated in fields:
            label = F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL
            if isinstance(kind, str):
                form.field.add(name=key, number=number, type=F.TYPE_MESSAGE, type_name=f".counts.{kind}", label=label)
            else:
                form.field.add(name=key, number=number, type=kind, label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"counts.{name}")) for name in FORMS}


class Counts:
    """Counts on loopback for as long as it lives; `limits` and `used` are by tenant."""

    def __init__(self, limits: dict[str, int]):
        self.limits, self.used = limits, dict.fromkeys(limits, 0)
        self._forms, self._lock = _forms(), threading.Lock()
        handler = grpc.unary_unary_rpc_method_handler(
            self._answer,
            request_deserializer=self._forms["Request"].FromString,
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
        return self._forms["Response"](overall_code=overall, statuses=statuses)

    def _one(self, asked):
        (entry,) = asked.entries
        assert entry.key == "tenant"
        with self._lock:
            self.used[entry.value] += asked.hits_addend.value if asked.HasField("hits_addend") else 1
            code = OVER if self.used[entry.value] > self.limits[entry.value] else OK
        return self._forms["Status"](code=code, duration_until_reset=self._forms["Span"](seconds=RESET_S))
