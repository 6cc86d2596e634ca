// Bundles the figures into ../static/figures.js: one classic script, so that it runs from file:// too.
import { readFile } from "node:fs/promises";
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

const { metafile } = await esbuild.build({
  entryPoints: [here("index.js")],
  outfile: here("../static/figures.js"),
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "PegasosFigures",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  banner: { js: licences },
  plugins: [minifiedCss],
  metafile: true,
  logLevel: "info",
});

const [output] = Object.values(metafile.outputs);
const packages = new Set(Object.keys(output.inputs).map((path) => path.match(/node_modules\/([^/]+)/)?.[1]).filter(Boolean));
const unnamed = [...packages].filter((name) => !licences.includes(name));
if (unnamed.length > 0) throw new Error(`name these packages in the licences: ${unnamed.join(", ")}`);
