// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import MiniSearch from "minisearch";
import { bundledPackages, licenceTexts } from "../scripts/notices.mjs";
import { root } from "../scripts/sources.mjs";

const options = { fields: ["title", "page", "text"], storeFields: ["address", "title", "page"] };

/** Returns the script of the search, with its index. `pages` is a map from addresses to pages with sections. */
export async function searchScript(pages) {
  const search = new MiniSearch(options);
  let id = 0;
  for (const [address, { title: page, sections }] of pages) {
    for (const section of sections) {
      const at = section.id === "" ? address : `${address}#${section.id}`;
      search.add({ id: id++, address: at, title: section.title || page, page, text: section.text });
    }
  }
  const values = `export const index = ${JSON.stringify(JSON.stringify(search))};\nexport const options = ${JSON.stringify(options)};\n`;
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("search.mjs", import.meta.url))],
    plugins: [
      {
        name: "index",
        setup(bundler) {
          bundler.onResolve({ filter: /search-options\.mjs$/ }, () => ({ path: "options", namespace: "index" }));
          bundler.onLoad({ filter: /.*/, namespace: "index" }, () => ({ contents: values }));
        },
      },
    ],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    // The licence asks that its text is in every copy.
    banner: { js: `/*!\n${licenceTexts(bundledPackages(["node_modules/minisearch"], root))}*/` },
    write: false,
  });
  return outputFiles[0].text;
}
