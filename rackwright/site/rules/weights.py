"""Weights: they can be fetched, and they are in the precision that is said."""

import re
from collections.abc import Iterator

from rackwright.site.known.architectures import Precision
from rackwright.site.known.tensors import BITS_PER_PARAMETER
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.sources import S3, Hub, Nfs, Source

GATED = re.compile(r"^(meta-llama/|google/gemma)", re.IGNORECASE)  # their licence is accepted by an account
# What publishers write into the names of what they publish.
MARKS: tuple[tuple[re.Pattern[str], Precision], ...] = (
    (re.compile(r"mxfp4"), "mxfp4"),
    (re.compile(r"fp4"), "nvfp4"),
    (re.compile(r"fp8"), "fp8"),
    (re.compile(r"awq|gptq|int4|4bit|4-bit|w4a16"), "int4"),
    (re.compile(r"int8|8bit|8-bit|w8a8|w8a16"), "int8"),
)


def object_storage_is_there(model: Model, place: Place, object_storage: ObjectStorage | None) -> Iterator[Broken]:
    """Weights in object storage want an object storage."""
    if isinstance(model.source, S3) and object_storage is None:
        yield Broken(
            (*place, "source", "s3"),
            f"is {model.source.s3}, and the site has no object_storage",
            "describe object_storage, or take the weights from hub, nfs or local",
        )


def gated_weights_have_a_token(model: Model, place: Place) -> Iterator[Broken]:
    """The hub gives some weights only to an account that accepted their licence."""
    if isinstance(model.source, Hub) and model.source.token is None and GATED.match(model.source.hub):
        yield Broken(
            (*place, "source"),
            f"is {model.source.hub}, which the hub gives only to accounts that accepted its licence, without a token",
            "write `token:` with the name of the access token in the vault",
        )


def precision_is_that_of_the_source(model: Model, place: Place) -> Iterator[Broken]:
    """Memory is reckoned from the precision, so it is that of the files and not a wish."""
    name = _name(model.source)
    found = next((precision for mark, precision in MARKS if mark.search(name.lower())), None)
    if found is None and _is_the_original(model, name):
        found = model.shape.native_precision
    if found is not None and BITS_PER_PARAMETER[found] != BITS_PER_PARAMETER[model.precision]:
        yield Broken(
            (*place, "precision"),
            f"is {model.precision}, and {name} by its name is {found}",
            f"write precision: {found}, or name the weights that are {model.precision}",
        )


def _name(source: Source) -> str:
    if isinstance(source, Hub):
        return source.hub
    if isinstance(source, S3):
        return source.s3
    return source.nfs if isinstance(source, Nfs) else source.local


def _is_the_original(model: Model, name: str) -> bool:
    """True for the hub's repository of the named base model itself, or of its instruct version."""
    if not isinstance(model.architecture, str) or not isinstance(model.source, Hub):
        return False
    rest = name.lower().removeprefix(model.architecture.lower())
    return rest in ("", "-instruct", "-base", "-chat", "-it", "-instruct-2506", "-instruct-2507", "-thinking-2507")
