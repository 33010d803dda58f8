"""What a submission may try on whoever reads it. Each one runs ``hacked()`` where nothing stops it."""

import base64

import nbformat
from nbformat import NotebookNode

from autograder.pipeline.rebuild import SubmittedCell

HACK = "document.title='hacked'"


def html(text: str) -> NotebookNode:
    return nbformat.v4.new_output("display_data", data={"text/html": text, "text/plain": "a figure"})


def bundle(metadata: dict[str, object] | None = None, **data: str) -> NotebookNode:
    named = {kind.replace("__", "/").replace("_xml", "+xml"): value for kind, value in data.items()}
    return nbformat.v4.new_output("display_data", data=named, metadata=metadata or {})


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{HACK}\"><script>{HACK}</script></svg>"

#: name -> outputs of the student's own cell.
OUTPUTS: dict[str, NotebookNode] = {
    "a script": html(f"<script>{HACK}</script>"),
    "an onerror": html(f'<img src="data:image/png;base64,AA==" onerror="{HACK}">'),
    "an onerror without quotes": html(f"<img src=x onerror={HACK}>"),
    "an SVG in HTML": html(SVG),
    "an SVG output": bundle(image__svg_xml=SVG),
    "an SVG animation": html(f'<svg><animate onbegin="{HACK}" attributeName=x dur=1s></svg>'),
    "a javascript link": html(f'<a id="bait" href="javascript:void({HACK})">open</a>'),
    "a disguised javascript link": html(f'<a id="bait" href="java&#10;script:void({HACK})">open</a>'),
    "a frame": html(f'<iframe srcdoc="<script>parent.{HACK}</script>"></iframe>'),
    "a framed output": bundle({"text/html": {"isolated": True}}, text__html=f"<script>parent.{HACK}</script>"),
    "a form": html(f'<form action="javascript:void({HACK})"><button id="bait">send</button></form>'),
    "an autofocus": html(f'<input autofocus onfocus="{HACK}"><details open ontoggle="{HACK}"></details>'),
    "a refresh": html(f"<meta http-equiv='refresh' content='0;url=data:text/html,<title>hacked</title>'><p {HACK}>"),
    "a base": html("<base href='https://example.org/'>"),
    "a mutated tag": html(
        f'<math><mtext><table><mglyph><style><img src=x onerror="{HACK}"></style></table></mtext></math>'
    ),
    "a noscript": html(f'<noscript><p title="</noscript><img src=x onerror={HACK}>"></noscript>'),
    "JavaScript output": bundle(application__javascript=HACK),
    "a picture that closes its tag": bundle(image__png=f'"><script>{HACK}</script>'),
    "a width that closes its tag": bundle({"image/png": {"width": f"1><script>{HACK}</script>"}}, image__png=PNG),
    "an alt text that closes its tag": bundle({"image/png": {"alt": f'"><script>{HACK}</script>'}}, image__png=PNG),
    "an alt text that holds a tag": bundle({"image/png": {"alt": f"<script>{HACK}</script>"}}, image__png=PNG),
    "Markdown output": bundle(text__markdown=f"<img src=x onerror={HACK}>"),
    "LaTeX output": bundle(text__latex=f"$\\href{{javascript:void({HACK})}}{{x}}$ <script>{HACK}</script>"),
    "a diagram": bundle(text__vnd_mermaid=f"</pre><script>{HACK}</script>"),
    "an error": nbformat.v4.new_output(
        "error", ename="E", evalue="<b>", traceback=[f"\x1b[31m<script>{HACK}</script>"]
    ),
    "a print": nbformat.v4.new_output("stream", name="stdout", text=f"<script>{HACK}</script>\x1b[38;2;1;2;3m<b>"),
}

#: name -> Markdown that the student writes into an answer or a cell of their own.
TEXTS: dict[str, str] = {
    "a script": f"My answer.\n\n<script>{HACK}</script>",
    "an onerror": f'Look: <img src=x onerror="{HACK}">',
    "an SVG": f'<svg/onload={HACK}>\n\n<svg onload="{HACK}"></svg>',
    "a javascript link": f"[open](javascript:void%28{HACK.replace(chr(39), '%27')}%29)",
    "a reference link": f"[open]\n\n[open]: javascript:void({HACK})",
    "an automatic link": f"<javascript:void({HACK})>",
    "a diagram": f"```mermaid\n</pre><script>{HACK}</script>\n```",
    "a comment that ends early": f"<!-- --!><script>{HACK}</script> -->",
    "a formula": f'$$<script>{HACK}</script>$$\n\n\\begin{{a<b}}<img src=x onerror="{HACK}">\\end{{a<b}}',
    "a table": f'| a |\n|---|\n| <img src=x onerror="{HACK}"> |',
    "a fence in a fence": f"````\n```\n<script>{HACK}</script>\n```\n````\n\n<script>{HACK}</script>",
    "a missing attachment": f'![x](attachment:y.png) <img src=x onerror="{HACK}">',
    "a style": f"<style>body{{display:none}}</style><div style='position:fixed' onclick=\"{HACK}\">x</div>",
    "a heading": f'# <img src=x onerror="{HACK}">',
}


def extra(text: str) -> SubmittedCell:
    return SubmittedCell(text, "markdown", None)
