"""The JSON schema of a site file, for editors: keys, values and what they are for, out of the models."""

from collections.abc import Iterable
from typing import Any

from rackwright.site.catalog import Catalog
from rackwright.site.known.architectures import architectures
from rackwright.site.known.gpu_products import gpu_products
from rackwright.site.operating_system import SUPPORTED
from rackwright.site.reading.shape import blocks, form_of
from rackwright.site.site import Site
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class

DIALECT = "http://json-schema.org/draft-07/schema#"  # what editors of YAML know best
NETWORK = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$"
STABLE_DISK = "^/dev/disk/by-id/[A-Za-z0-9]"


def schema() -> dict[str, Any]:
    """The schema; what a catalog or a table knows (GPUs, models, parsers, branches) stands in it as lists of words."""
    made = Site.model_json_schema()
    for name, model in blocks(Site).items():
        properties = made["properties"] if model is Site else made["$defs"][name]["properties"]
        for key, info in model.model_fields.items():
            _plain(properties[key])
            words = form_of(info)
            if words:
                properties[key]["description"] += f" Form: {words}."
    _name_what_is_known(made["$defs"])
    return {"$schema": DIALECT, "title": "Rackwright site", **made}


def _plain(node: Any) -> None:
    """Leave out names that only repeat the key, and give a network the form that no editor knows by its name."""
    if isinstance(node, list):
        for each in node:
            _plain(each)
    elif isinstance(node, dict):
        node.pop("title", None)
        if node.get("format") == "ipv4network":
            del node["format"]
            node["pattern"] = NETWORK
        for each in node.values():
            _plain(each)


def _name_what_is_known(definitions: dict[str, Any]) -> None:
    catalog, classes = Catalog.load(), [storage_class(purpose) for purpose in VOLUME_PURPOSES]
    layouts = {
        name for product in gpu_products().values() for size in product.memory_gb for name in product.mig_layouts(size)
    }
    known: dict[tuple[str, str], Iterable[str | int]] = {
        ("Gpus", "product"): gpu_products(),
        ("Gpus", "mig"): sorted(layouts),
        ("Gpu", "driver_branch"): catalog.drivers,
        ("OperatingSystem", "release"): sorted({release for releases in SUPPORTED.values() for release in releases}),
        ("Model", "architecture"): architectures(),
        ("Model", "tool_call_parser"): catalog.engine.tool_call_parsers,
        ("Model", "reasoning_parser"): catalog.engine.reasoning_parsers,
        **{(block, "storage_class"): classes for block in ("Vectors", "Postgresql", "Monitoring")},
    }
    for (block, key), words in known.items():
        _scalar(definitions[block]["properties"][key])["enum"] = list(words)
    definitions["Disk"]["properties"]["path"]["pattern"] = STABLE_DISK


def _scalar(node: dict[str, Any]) -> dict[str, Any]:
    """The part of a property that is a text or a number, where it may be something else as well."""
    parts: list[dict[str, Any]] = node.get("anyOf") or node.get("oneOf") or [node]
    return next(part for part in parts if part.get("type") in ("string", "integer"))
