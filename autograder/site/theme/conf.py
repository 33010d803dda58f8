"""What Sphinx reads. ``site.json`` beside it has what differs from one site to the next."""

import html
import json
from pathlib import Path

about = json.loads(Path(__file__).with_name("site.json").read_text(encoding="utf-8"))

smartquotes = False  # what is searched for leaks, and copied, has the marks that were written
project = html_title = about["title"]
root_doc, language = "index", "en"
extensions = ["myst_nb", "autograder.site.mathml"]
exclude_patterns = ["README.md", "_extra"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
nb_execution_mode = "off"
nb_merge_streams = True
suppress_warnings = ["mystnb", "myst", "misc.highlighting_failure"]

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_extra_path = ["_extra"]
html_static_path, html_css_files = ["_static"], ["site.css"]
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_domain_indices = html_use_index = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "github_url": about["address"],
    "logo": {"text": html.escape(about["title"])},
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": ["theme-version"],
    "header_links_before_dropdown": 6,
}
