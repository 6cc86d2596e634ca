"""What axe, an accessibility checker, finds in a page, as lines."""

from importlib.resources import files

AXE = files("axe_playwright_python").joinpath("axe.min.js")
COLOURS = ["color-contrast", "link-in-text-block"]
STRUCTURE = """(colours) => axe.run({exclude: [['.katex-html']]}, {
    resultTypes: ['violations'], preload: false,
    rules: Object.fromEntries(colours.map((rule) => [rule, {enabled: false}])),
})"""
# A formula has the colour of the text around it, and of all texts of one colour and size, on one
# ground and, if it is a link, in one text, one is measured.
CONTRAST = """([colours, known]) => {
    const grounds = new Map([[null, ""]]);
    const ground = (node) => {
        if (!grounds.has(node)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
            const own = `${backgroundColor} ${backgroundImage} ${opacity},`;
            const under = ground(node.parentElement);
            grounds.set(node, under + own.replace("rgba(0, 0, 0, 0) none 1,", ""));
        }
        return grounds.get(node);
    };
    const seen = new Set(known), before = seen.size;
    const include = [...document.querySelectorAll("body *")].filter((node) => {
        if (![...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim())) {
            return false;
        }
        const { color, fill, fontSize, fontWeight } = getComputedStyle(node);
        const link = node.closest("a");
        const around = link && getComputedStyle(link.parentElement).color;
        const kind = `${ground(node)} ${color} ${fill} ${fontSize} ${fontWeight} ${around}`;
        return !seen.has(kind) && node.checkVisibility() && seen.add(kind);
    });
    const found = include.length ? axe.run({include, exclude: [['.katex']]}, {
        resultTypes: ['violations'], preload: false, runOnly: colours,
    }) : { violations: [] };
    return Promise.resolve(found).then(({ violations }) =>
        ({ violations, kinds: [...seen].slice(before) }));
}"""


def structure_faults(page):
    """Return what axe finds in a page's structure, as lines."""
    return told(run_axe(page, STRUCTURE, COLOURS))


def colour_faults(page, known):
    """Return what axe finds in colours that are not known yet, as lines, and make them known."""
    found = run_axe(page, CONTRAST, [COLOURS, known])
    known.extend(found["kinds"])
    return told(found)


def run_axe(page, script, argument):
    """Run a script that calls axe."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(script, argument)


def told(found):
    """Return a line for each fault that axe found."""
    return [
        f"{rule['id']}: {node['target']} {node['html'][:150]} {node['failureSummary'][:200]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
