"""From a site's file to the site."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.reading.check import check
from rackwright.site.reading.document import read
from rackwright.site.reading.faults import SiteRefused
from rackwright.site.reading.judge import Broken
from rackwright.site.rules import broken

ModelType = TypeVar("ModelType", bound=BaseModel)
FILE_NAME = "site.yml"


def load(kind: type[ModelType], path: Path, catalog: Catalog | None = None) -> ModelType:
    """A site that fits the checkout's catalog, or another; SiteRefused lists all faults, Refusal what is no file."""
    document = read(site_file(path))
    pins = catalog or Catalog.load()

    def judges(site: ModelType) -> Iterator[Broken]:
        return broken({name: getattr(site, name) for name in kind.model_fields} | {"site": site, "catalog": pins})

    return check(kind, document, judges, SiteRefused)


def site_file(path: Path) -> Path:
    """The file that a site's folder or file name means."""
    try:
        return path / FILE_NAME if path.is_dir() else path
    except OSError as error:
        raise Refusal(f"{path} cannot be read ({error.strerror}).", "Look at its permissions and its name.") from None
