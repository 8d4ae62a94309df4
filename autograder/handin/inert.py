"""Makes what a learner wrote or printed harmless to look at: in formgrader, in feedback, in the report.

Learner text is cleaned with nbconvert's SanitizeHTML, and then rendered once and looked at: markdown has its own ways
to make HTML, and a text that still yields something active is shown as plain text instead.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from html.parser import HTMLParser
from typing import Any

from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode
from nbformat.v4 import new_output

KiB = 1 << 10
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""What may be shown besides text, with the bytes it must begin with."""

PICTURE_BYTES = 4 << 20
NODES_MOST = 500
MARKDOWN_MOST = 16_000
"""Characters of one text that are rendered; a longer one is shown as it was typed. Cleaning and rendering markdown
takes time that grows with the square of some texts."""

ESCAPES_MOST = 500
"""Terminal escapes in the outputs of one cell: nbconvert's time grows with the square of their number."""

CUT = "\n… cut here: more output than this course keeps …\n"
# fmt: off
_ACTIVE = frozenset((
    "script", "iframe", "object", "embed", "form", "input", "button", "textarea", "select", "style", "link", "meta",
    "base", "svg", "math", "frame", "frameset", "applet", "video", "audio", "source", "template", "slot", "noscript",
    "portal",
))
# fmt: on
_NO_TAG = re.compile(r"&lt;(?![A-Za-z/!?])")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\u200b\u2028\u2029]")
_URLS = ("href", "src", "action", "formaction", "srcset", "data", "xlink:href", "background", "poster")
_PLAIN_SCHEMES = ("http:", "https:", "mailto:", "attachment:")


def markdown(text: str) -> str:
    """A learner's markdown, cleaned; as preformatted text where cleaning is not enough."""
    if len(text) > MARKDOWN_MOST:
        return preformatted(text)
    cleaned: str = SanitizeHTML().sanitize_html_tags(text)
    # No tag begins without "<": giving back what markdown and maths are written with is safe, and looked at below.
    cleaned = _NO_TAG.sub("<", cleaned).replace("&gt;", ">").replace("&amp;", "&")
    return cleaned if not _active(markdown2html_mistune(cleaned)) else preformatted(text)


def preformatted(text: str) -> str:
    """A learner's text as it was typed."""
    return f"<pre>{html.escape(text)}</pre>"


def attachments(found: Any) -> dict[str, dict[str, str]]:
    """Pictures pasted into a markdown cell; anything else is dropped."""
    kept: dict[str, dict[str, str]] = {}
    for name, bundle in found.items() if isinstance(found, dict) else ():
        pictures = _pictures(bundle)
        if pictures and isinstance(name, str) and re.fullmatch(r"[\w .()-]{1,100}", name):
            kept[name] = pictures
    return kept


class Outputs:
    """Collects what one cell publishes, at most `limit` characters of text and `pictures` of pictures; other rich
    output is text. `left` and `pictures_left` say what was not used of them.
    """

    def __init__(self, limit: int, pictures: int = PICTURE_BYTES) -> None:
        self.nodes: list[NotebookNode] = []
        self.left = limit
        self.pictures_left = min(pictures, PICTURE_BYTES)
        self._escapes_left = ESCAPES_MOST
        self._clear_next = False

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """Takes one message of the kernel. Its content was written by learner code and is not trusted."""
        if kind == "clear_output":
            self._clear_next = bool(content.get("wait"))
            if not self._clear_next:
                self.nodes.clear()
            return
        if kind not in ("stream", "display_data", "execute_result", "error") or len(self.nodes) >= NODES_MOST:
            return
        if self._clear_next:
            self.nodes.clear()
            self._clear_next = False
        if kind == "stream":
            self._stream(content)
        elif kind == "error":
            self._error(content)
        else:
            self._display(content)

    def _stream(self, content: dict[str, Any]) -> None:
        name = "stderr" if content.get("name") == "stderr" else "stdout"
        text = self._cut(_text(content.get("text")))
        if not text:
            return
        last = self.nodes[-1] if self.nodes else None
        if last is not None and last.output_type == "stream" and last.name == name:
            last.text += text
        else:
            self.nodes.append(new_output("stream", name=name, text=text))

    def _error(self, content: dict[str, Any]) -> None:
        if self.left < 0 and any(node.output_type == "error" for node in self.nodes):
            return
        lines = content.get("traceback")
        traceback = self._cut("\n".join(_text(line) for line in lines) if isinstance(lines, list) else "")
        self.nodes.append(
            new_output(
                "error",
                ename=_text(content.get("ename"))[:200],
                evalue=self._cut(_text(content.get("evalue"))[:2000]),
                traceback=traceback.split("\n"),
            )
        )

    def _display(self, content: dict[str, Any]) -> None:
        bundle = content.get("data")
        bundle = bundle if isinstance(bundle, dict) else {}
        data = _pictures(bundle, self.pictures_left)
        self.pictures_left -= sum(len(picture) for picture in data.values())
        text = self._cut(_text(bundle.get("text/plain")))
        if bundle and not bundle.get("text/plain") and not data:
            text = self._cut("(an output that is neither text nor a picture was left out)")
        if text:
            data["text/plain"] = text
        if data:
            self.nodes.append(new_output("display_data", data))

    def _cut(self, text: str) -> str:
        if self.left < 0:
            return ""
        kept = text[: self.left]
        self.left -= len(text)
        self._escapes_left -= kept.count("\x1b")
        if self._escapes_left < 0:
            kept = kept.replace("\x1b", "")
        return kept if self.left >= 0 else kept + CUT


def _text(found: Any) -> str:
    """Text that can be written as UTF-8, without control characters that a page or a terminal would act on."""
    text = "".join(str(part) for part in found) if isinstance(found, list) else found
    if not isinstance(text, str):
        return ""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def _pictures(bundle: Any, most: int = PICTURE_BYTES) -> dict[str, str]:
    kept: dict[str, str] = {}
    for kind, start in PICTURES.items():
        data = bundle.get(kind) if isinstance(bundle, dict) else None
        if not isinstance(data, str) or len(data) > most:
            continue
        try:
            content = base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        if content.startswith(start):
            kept[kind] = base64.b64encode(content).decode()
    return kept


class _Looker(HTMLParser):
    active = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.active |= tag in _ACTIVE
        for name, value in attrs:
            self.active |= name.startswith("on") or name == "style"
            if name in _URLS:
                self.active |= _bad_address(value or "")

    handle_startendtag = handle_starttag


def _active(page: str) -> bool:
    looker = _Looker()
    looker.feed(page)
    looker.close()
    return looker.active


def _bad_address(address: str) -> bool:
    """Browsers drop control characters from addresses, so they are dropped before the scheme is read."""
    plain = _CONTROL.sub("", html.unescape(address)).lower()
    return bool(_SCHEME.match(plain)) and not plain.startswith(_PLAIN_SCHEMES)
