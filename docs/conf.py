# SPDX-License-Identifier: Apache-2.0
"""How ``make docs`` builds the pages: sphinx over the Markdown of the project, read where it lies; a warning is an error."""

project = "humanoid_dynamics"
author = "humanoid_dynamics maintainers"
project_copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "docs/*.md"]
exclude_patterns = [
    ".*",
    "build",
    "dist",
    "install",
    "log",
    "*.egg-info",
    "humanoid_dynamics",
    "test",
]
source_suffix = {".md": "markdown"}

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = []
suppress_warnings = ["myst.header"]  # pages begin where they want

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_type_aliases = {"Vector": "Vector", "Matrix": "Matrix"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
default_role = "code"

html_theme = "furo"
html_title = "humanoid_dynamics"
html_copy_source = False
html_show_sphinx = False
