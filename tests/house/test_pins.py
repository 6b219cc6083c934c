"""Versions of upstream stand in the catalog and nowhere else."""

import re
from pathlib import Path

from rackwright.site.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]


def code_files() -> list[Path]:
    """Code that must read its versions from the catalog."""
    files = (file for package in ("components", "stacks", "playbooks") for file in (ROOT / package).rglob("*"))
    return [file for file in files if file.is_file() and "__pycache__" not in file.parts]


def pins() -> set[str]:
    """Every version that the catalog pins."""
    catalog = Catalog.load()
    versions = {chart.version for chart in catalog.charts.values()} | {image.tag for image in catalog.images.values()}
    kubernetes = {catalog.kubernetes.k3s, catalog.kubernetes.kubeadm}
    return versions | kubernetes | {driver.version for driver in catalog.drivers.values()}


def test_no_pin_stands_outside_the_catalog():
    for file in code_files():
        text = file.read_text(errors="replace")
        found = sorted(pin for pin in pins() if re.search(rf"(?<![\w.]){re.escape(pin)}(?![\w.])", text))
        assert not found, f"{file.relative_to(ROOT)} pins {', '.join(found)}"


def test_no_image_is_named_outside_the_catalog():
    pattern = re.compile(r"\b(docker\.io|ghcr\.io|quay\.io|nvcr\.io|registry\.k8s\.io)/")
    for file in code_files():
        assert not pattern.search(file.read_text(errors="replace")), file.relative_to(ROOT)
