"""Messages of gRPC services that a stand-in speaks, from the few fields that it uses of them."""

from collections.abc import Mapping, Sequence

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TEXT, BYTES, BOOL, NUMBER, LONG, COUNT, MESSAGE = 9, 12, 8, 5, 3, 4, 11  # kinds of a field, by protobuf's numbers
Fields = Sequence[tuple[str, int, int | str]]


def forms(package: str, fields: Mapping[str, Fields]) -> dict[str, type]:
    """By message: its fields' names, numbers and kinds; for a message its type, with a star where it is repeated."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, each in fields.items():
        message = file.message_type.add(name=name)
        for field, number, form in each:
            made = message.field.add(name=field, number=number, label=3 if str(form).endswith("*") else 1)
            made.type = MESSAGE if isinstance(form, str) else form
            if isinstance(form, str):
                made.type_name = f".{package}.{form.rstrip('*')}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in fields}
