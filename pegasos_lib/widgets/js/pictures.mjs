// Draws ../static/<kind>.svg, the still pictures of the figures: what a reader sees on GitHub, in print or without
// JavaScript. Each is taken from the figure itself, as it starts, in a headless Chromium: `npm run pictures`, or of some kinds
// alone `node pictures.mjs race`.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--virtual-time-budget=3000", "--window-size=1120,900", "--dump-dom"];

// Runs in the page: joins the panels of the figure into one SVG that needs no style sheet from outside.
function gather() {
  const PAINT = { fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-opacity": "1",
    "stroke-dasharray": "none", opacity: "1", "paint-order": "normal", "font-size": "", "font-weight": "400", "text-anchor": "start" };
  const KEEP = /^(x|y|x1|x2|y1|y2|cx|cy|r|width|height|transform|clip-path|id|viewBox|refX|refY|orient|marker.*|dy)$/;
  const NS = "http://www.w3.org/2000/svg";
  const classes = new Map();
  const isShape = (node) => /^(path|circle|line|rect|text)$/.test(node.tagName);

  // Straight paths in relative steps of a tenth of a pixel, or of one for the many points of a contour.
  function shorter(d, unit) {
    if (/[^MLZ\d.,-]/.test(d)) return d;
    return d.split("M").filter(Boolean).map((ring) => {
      const points = ring.replace("Z", "").split("L").map((pair) => pair.split(",").map((v) => Math.round(v / unit)));
      const steps = points.slice(1).map(([x, y], i) => [x - points[i][0], y - points[i][1]]).filter(([x, y]) => x || y);
      const text = ([x, y]) => `${+(x * unit).toFixed(1)},${+(y * unit).toFixed(1)}`;
      return `M${text(points[0])}${steps.length ? `l${steps.map(text).join(" ")}` : ""}${ring.endsWith("Z") ? "z" : ""}`;
    }).join("");
  }

  function copy(node) {
    const style = getComputedStyle(node);
    const inDefs = node.closest("defs");
    if (!inDefs && style.display === "none") return null;
    const empty = node.tagName === "path" && !node.getAttribute("d");
    const unpainted = isShape(node) && !inDefs && style.stroke === "none"
      && (style.fill === "none" || style.fill === "rgba(0, 0, 0, 0)");
    if (empty || unpainted) return null;
    const clone = document.createElementNS(NS, node.tagName);
    for (const { name, value } of node.attributes) {
      if (name === "d") clone.setAttribute(name, shorter(value, node.matches(".pf-band") ? 1 : 0.1));
      else if (KEEP.test(name)) clone.setAttribute(name, value.replace(/(\.\d)\d+/g, "$1"));
    }
    if (isShape(node) && !node.closest("clipPath")) {
      const rules = Object.entries(PAINT).filter(([name, usual]) => {
        if (name.startsWith("font") || name === "text-anchor") return node.tagName === "text" && style[name] !== usual;
        if (name.startsWith("stroke-") && style.stroke === "none") return false;
        return style.getPropertyValue(name) !== usual;
      }).map(([name]) => `${name}:${node.closest("marker") && name === "fill" ? "context-stroke" : style.getPropertyValue(name)}`);
      if (rules.length > 0) {
        const key = rules.join(";").replace(/rgb\((\d+), (\d+), (\d+)\)/g, (_, ...c) =>
          `#${c.slice(0, 3).map((v) => Number(v).toString(16).padStart(2, "0")).join("")}`);
        if (!classes.has(key)) classes.set(key, `s${classes.size}`);
        clone.setAttribute("class", classes.get(key));
      }
    }
    if (node.children.length === 0) clone.textContent = node.textContent;
    for (const child of node.children) {
      const made = copy(child);
      if (made) clone.append(made);
    }
    return /^(g|defs)$/.test(node.tagName) && clone.children.length === 0 ? null : clone;
  }

  const whole = document.createElementNS(NS, "svg");
  let right = 0;
  let bottom = 0;
  for (const svg of document.querySelectorAll(".pf-plane")) {
    const panel = copy(svg);
    panel.setAttribute("x", right);
    panel.setAttribute("y", 20);
    panel.removeAttribute("viewBox");
    const title = document.createElementNS(NS, "text");
    title.setAttribute("x", right + 52);
    title.setAttribute("y", 14);
    title.setAttribute("font-weight", 700);
    title.textContent = svg.closest(".pf-panel").querySelector(".pf-panel-title").textContent;
    whole.append(title, panel);
    right += Number(svg.getAttribute("width"));
    bottom = Math.max(bottom, 20 + Number(svg.getAttribute("height")));
  }
  const style = document.createElementNS(NS, "style");
  style.textContent = `text{font:12px sans-serif}${[...classes].map(([rules, name]) => `.${name}{${rules}}`).join("")}`;
  whole.prepend(style);
  whole.setAttribute("xmlns", NS);
  whole.setAttribute("viewBox", `0 0 ${right} ${bottom}`);
  whole.setAttribute("width", right);
  whole.setAttribute("height", bottom);
  const out = new XMLSerializer().serializeToString(whole);
  document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "picture", textContent: out }));
}

// What a figure of measured results shows: those that the book has committed.
function results(kind) {
  const file = here(`../../../book/_data/${kind}.json`);
  return existsSync(file) ? `globalThis.PegasosData={${kind}:${JSON.stringify(JSON.parse(readFileSync(file, "utf8")).results)}};` : "";
}

function picture(kind) {
  const script = ["figures", kind].map((name) => readFileSync(here(`../static/${name}.js`), "utf8")).join("");
  const page = `<!doctype html><html data-theme="light"><meta charset="utf-8"><body>
<div class="pegasos-figure" data-figure="${kind}"></div><script>${results(kind)}${script}</script>
<script>addEventListener("load", () => setTimeout(${gather}, 800))</script></body></html>`;
  const folder = mkdtempSync(join(tmpdir(), "picture-"));
  try {
    const file = join(folder, "page.html");
    writeFileSync(file, page);
    const dom = execFileSync(process.env.CHROMIUM ?? "chromium",
      [...FLAGS, `--user-data-dir=${join(folder, "profile")}`, pathToFileURL(file).href],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const found = dom.match(/<pre id="picture">([\s\S]*?)<\/pre>/);
    if (!found) throw new Error(`the figure ${kind} did not draw`);
    return found[1].replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const all = readdirSync(here("../static")).filter((name) => /^(?!figures\.).*\.js$/.test(name)).map((name) => name.replace(".js", ""));
const asked = process.argv.slice(2);
for (const kind of asked.length > 0 ? asked : all) {
  const svg = picture(kind);
  writeFileSync(here(`../static/${kind}.svg`), `${svg}\n`);
  console.log(`${kind}.svg: ${(svg.length / 1024).toFixed(1)} kB`);
}
