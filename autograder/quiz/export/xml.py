"""What the XML formats share: elements with text, bytes that do not depend on when they were made, zips of files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from xml.etree import ElementTree as ET

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip: zips know no earlier one, and no export depends on the clock."""


def clean(text: str) -> str:
    """`text` without the characters that XML 1.0 cannot hold."""
    return _ILLEGAL.sub("", text)


def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    """A child element of `parent`; escaping is left to the writer, so that it happens exactly once."""
    made = ET.SubElement(parent, tag, {name.rstrip("_"): clean(value) for name, value in attributes.items()})
    if text:
        made.text = clean(text)
    return made


def write(root: ET.Element, doctype: str = "") -> bytes:
    """The bytes of a document, indented."""
    ET.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n' + (f"{doctype}\n" if doctype else "")
    return head.encode() + ET.tostring(root, encoding="unicode").encode() + b"\n"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of `files`, the same bytes for the same files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _THEN)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return made.getvalue()
