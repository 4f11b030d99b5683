#!/usr/bin/env node
import { spawnSync } from "node:child_process";
// SPDX-License-Identifier: MIT OR Apache-2.0
// `make site`: builds a static site from the repository's pages, with the API reference, the report of the kept run of the lab, and a page
// to try Clearway in the browser. `node site/build.mjs [--out FOLDER] [--reference FOLDER]`. The site needs no server of its own, and works
// from any folder of one.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { root } from "../scripts/sources.mjs";
import { crawl } from "./crawl.mjs";
import { page } from "./layout.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The pages that the crawl starts from. They link to all others. */
const start = ["README.md", "docs/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/** Writes the report of a kept run of the lab. Returns false if there is none, or the lab is not built. */
function writeReport(out) {
  const run = join(root, "lab/records/limits");
  const cli = join(root, "ts/clearway-lab/dist/cli.js");
  if (!existsSync(cli) || !existsSync(join(run, "results.json"))) return false;
  const { status, stderr } = spawnSync(process.execPath, [cli, "report", run, "--out", join(out, "report.html")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the report of ${run} could not be written: ${stderr}`);
  return true;
}

async function writeTry(out) {
  await build({
    entryPoints: { try: here("try/try.ts"), "try.tasks": here("try/try.tasks.ts") },
    outdir: join(out, "try"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    splitting: true,
    chunkNames: "part-[hash]",
    logLevel: "warning",
  });
}

/**
 * Builds the site in an empty folder. Returns its addresses. Throws if a link leads to nothing. `coloured(path)` says whether a source file is
 * highlighted, which takes most of the time. Default: every one is.
 */
export async function buildSite(out, { reference, coloured } = {}) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, "assets"), { recursive: true });
  const extra = new Map();
  if (writeReport(out)) extra.set("out/report.html", "report.html");
  if (reference !== undefined) {
    cpSync(reference, join(out, "reference"), { recursive: true });
    extra.set("out/reference/index.html", "reference/index.html");
  }
  const { pages, copies, problems } = crawl(start, extra, coloured);
  if (problems.length > 0) throw new Error(`links that lead to nothing:\n${problems.join("\n")}`);
  const title = "Try it here";
  pages.set("try/index.html", {
    html: readFileSync(here("try/page.html"), "utf8"),
    title,
    headings: [],
    head: '<link rel="stylesheet" href="try.css">\n<script type="module" src="try.js"></script>\n',
  });
  const has = (address) => pages.has(address) || [...extra.values()].includes(address);
  for (const [address, { html, title: name, headings, head }] of pages) {
    const file = join(out, address);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page({ address, title: name, html, headings, has, head }));
  }
  for (const path of copies) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    cpSync(join(root, path), join(out, path));
  }
  cpSync(here("assets"), join(out, "assets"), { recursive: true });
  cpSync(here("try/try.css"), join(out, "try/try.css"));
  await writeTry(out);
  return [...pages.keys(), ...extra.values()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: "string" }, reference: { type: "string" } } });
  const out = resolve(values.out ?? join(root, "out/site"));
  const reference = values.reference ?? join(root, "out/reference");
  const found = existsSync(join(reference, "index.html"));
  if (!found) console.error("site: there is no API reference; `make reference` writes it");
  const addresses = await buildSite(out, { reference: found ? reference : undefined });
  console.log(`site: ${addresses.length} pages in ${out}`);
}
