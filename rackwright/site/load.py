"""From a file to a site: every fault in one run, each with its line, its place and its cure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rackwright.site.catalog import Catalog
from rackwright.site.document import Document, read
from rackwright.site.explain import explain
from rackwright.site.faults import Fault, Place, SiteRefused, spell
from rackwright.site.rules import Broken, broken
from rackwright.site.salvage import Salvaged, place_of, salvage

ModelType = TypeVar("ModelType", bound=BaseModel)
FILE_NAME = "site.yml"


def load(kind: type[ModelType], path: Path) -> ModelType:
    """Read, validate and check a site; raises SiteRefused with all faults, Refusal where the file cannot be read."""
    document = read(path / FILE_NAME if path.is_dir() else path)
    faults = list(_repeated_keys(document))
    blocks: dict[str, Any]
    try:
        site = kind.model_validate(document.data)
    except ValidationError as error:
        faults += (_shape_fault(kind, document, each) for each in error.errors(include_url=False))
        salvaged = salvage(kind, document.data)
        blocks = salvaged.blocks
    else:
        salvaged = Salvaged()
        blocks = {name: getattr(site, name) for name in kind.model_fields}
    found = broken(blocks | {"catalog": Catalog.load()})
    faults += (_rule_fault(document, each) for each in found if not salvaged.touches(each.place))
    if faults:
        raise SiteRefused(document.file, faults)
    return site


def _repeated_keys(document: Document) -> Iterator[Fault]:
    for each in document.repeated:
        yield Fault(
            str(document.file),
            each.line,
            spell(each.place),
            f"stands a second time (first in line {each.first_line})",
            "keep one of the two",
        )


def _shape_fault(kind: type[BaseModel], document: Document, error: ErrorDetails) -> Fault:
    place: Place = place_of(error, document.data)
    what, cure = explain(kind, error, place)
    return Fault(str(document.file), document.line(place), spell(place), what, cure)


def _rule_fault(document: Document, found: Broken) -> Fault:
    return Fault(str(document.file), document.line(found.place), spell(found.place), found.what, found.cure)
