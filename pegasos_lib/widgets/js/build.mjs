// Bundles the figures into ../static: figures.js holds what they share, <kind>.js each figure. They are classic scripts,
// so that they run from file:// too.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const minifiedCss = {
  name: "minified-css",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

const licences = `/*! Figures of the book (MIT). Holds parts of D3 (d3js.org):
d3-array, d3-axis, d3-contour, d3-dispatch, d3-drag, d3-format, d3-interpolate, d3-path, d3-scale, d3-selection, d3-shape
Copyright 2010-2023 Mike Bostock, d3-color among them; internmap copyright 2021 Mike Bostock. ISC licence:
Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE. */`;

const options = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "info",
};

/** Resolve what figures share (./d3.js, ./engine.js, ./ui.js and its parts) to the global that figures.js makes. */
async function shared() {
  const names = {};
  for (const part of ["d3", "engine", "ui"]) {
    const { metafile } = await esbuild.build({
      ...options, entryPoints: [here(`${part}.js`)], format: "esm", write: false, plugins: [minifiedCss], logLevel: "error",
    });
    names[part] = Object.values(metafile.outputs)[0].exports;
  }
  const take = (part) => names[part].map((name) => `export const ${name} = /* @__PURE__ */ take("${name}");`);
  return {
    name: "shared",
    setup(build) {
      build.onResolve({ filter: /(^|\/)(d3|engine|ui|ui\/\w+)\.js$/ }, ({ path }) =>
        ({ path: path.match(/(d3|engine|ui)(\/\w+)?\.js$/)[1], namespace: "shared" }));
      build.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) =>
        ({ contents: [`const take = (name) => PegasosFigures.${path}[name];`, ...take(path)].join("\n") }));
    },
  };
}

const { metafile } = await esbuild.build({
  ...options,
  entryPoints: [here("index.js")],
  outfile: here("../static/figures.js"),
  globalName: "PegasosFigures",
  banner: { js: licences },
  plugins: [minifiedCss],
});
const packages = new Set(Object.keys(Object.values(metafile.outputs)[0].inputs).map((path) => path.match(/node_modules\/([^/]+)/)?.[1]).filter(Boolean));
const unnamed = [...packages].filter((name) => !licences.includes(name));
if (unnamed.length > 0) throw new Error(`name these packages in the licences: ${unnamed.join(", ")}`);

// A figure is a module beside a folder of the same name that holds its parts.
const folders = (await readdir(here("."), { withFileTypes: true })).filter((entry) => entry.isDirectory());
const kinds = folders.map(({ name }) => name).filter((name) => name !== "ui" && name !== "node_modules").sort();
const plugins = [minifiedCss, await shared()];
for (const kind of kinds) {
  await esbuild.build({
    ...options,
    stdin: { contents: `import * as figure from "./${kind}.js"; PegasosFigures.register(figure);`, resolveDir: here(".") },
    outfile: here(`../static/${kind}.js`),
    plugins,
  });
}
