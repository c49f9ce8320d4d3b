"""Configure the pages: Markdown with MyST, and pages that are generated from the specification."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "turnproof"
author = "the turnproof authors"
version = release = installed("turnproof")

extensions = ["myst_parser", "sphinx.ext.autodoc", "specification"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = False

html_theme = "furo"
html_title = "turnproof"
html_static_path = ["_static"]
html_extra_path = ["lost.json"]
html_css_files = ["turnproof.css"]
html_show_copyright = False
html_show_sphinx = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"


def setup(app: Sphinx) -> None:
    """Let pages show the text of Mermaid pictures, which hosts of repositories draw."""
    app.add_lexer("mermaid", TextLexer)
