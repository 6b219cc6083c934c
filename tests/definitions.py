"""Upstream's definitions of kinds, as a test's API server is given them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml


class Plain(yaml.CSafeLoader):
    """Reads a bare equals sign as the text that upstream means by it."""


Plain.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))


def definitions(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Those in the files, each with the one version that is stored, and without descriptions.

    Older versions hold their whole schema again, and two thirds of a schema are words for people; the API server judges
    by neither, and works on both.
    """
    documents = [each for file in files for each in yaml.load_all(file.read_text(), Plain) if each]
    found = [each for each in documents if each["kind"] == "CustomResourceDefinition"]
    for each in found:
        stored = [version for version in each["spec"]["versions"] if version["storage"]]
        each["spec"]["versions"] = [version | {"schema": _wordless(version["schema"])} for version in stored]
    return found


def _wordless(schema: Any) -> Any:
    """A schema without descriptions; a property may be called so, and stays."""
    if isinstance(schema, list):
        return [_wordless(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _wordless(each) for name, each in value.items()} if key == "properties" else _wordless(value)
        for key, value in schema.items()
        if key != "description"
    }
