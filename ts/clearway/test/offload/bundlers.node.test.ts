// SPDX-License-Identifier: MIT OR Apache-2.0
// What depends on the bundlers' options: esbuild's and Rollup's. Vite's are in vite.node.test.ts.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import esbuildPlugin from "clearway-build/esbuild";
import rollupPlugin from "clearway-build/rollup";
import { context } from "esbuild";
import { type RollupCache, rollup } from "rollup";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { built, offloadOfApps, sources } from "./app.js";

// Each app has functions of its own: the workers keep a task file that they have loaded.
afterAll(async () => (await offloadOfApps()).terminate());

const head = 'import { offload } from "clearway/offload";\n';
const resultOf = async (url: string): Promise<unknown> => (await import(/* @vite-ignore */ url)).default();

test.each(["node", "browser"] as const)("esbuild's outExtension may have two dots, for %s", async (platform) => {
  const folder = sources({ "main.ts": `${head}export default () => offload(() => "${platform}");\n` });
  const url = await built(folder, "main.ts", { platform, outExtension: { ".js": ".min.js" } });
  expect(await resultOf(url.replace(/mjs$/, "min.js"))).toBe(platform);
});

test.each(["dist", "dist/js"])("an external module is found from a worker's file in %s", async (outdir) => {
  const folder = sources({
    "data.js": 'export const data = "outside";\n',
    "src/main.ts": `${head}import { data } from "../data.js";\nexport default () => offload(() => [data, "${outdir}"]);\n`,
  });
  const url = await built(folder, "src/main.ts", { outdir: join(folder, outdir), external: ["./data.js"] });
  expect(await resultOf(url.replace("/dist/src/", `/${outdir}/`))).toEqual(["outside", outdir]);
});

test("esbuild watches what only a function imports, also while that is broken", async () => {
  const main = `${head}import { a } from "./work/a.js";\noffload(() => a);\n`;
  const folder = sources({
    "main.ts": main,
    "work/a.js": 'export { a } from "./b.js";\n',
    "work/b.js": "export const a = 1;\n",
  });
  // The file changes at once, from another folder: a watcher never sees a part of it, nor a new name.
  const elsewhere = sources({});
  const edit = (name: string, text: string): void => {
    writeFileSync(join(elsewhere, "edited"), text);
    renameSync(join(elsewhere, "edited"), join(folder, name));
  };
  const ends: ((failed: boolean) => void)[] = [];
  const end = (failed: boolean) => new Promise<void>((resolve) => ends.push((each) => each === failed && resolve()));
  const watching = await context({
    absWorkingDir: folder,
    entryPoints: ["main.ts"],
    outdir: "dist",
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "silent",
    plugins: [
      esbuildPlugin(),
      {
        name: "ends",
        setup({ initialOptions, onEnd }) {
          // The builds of workers have the app's plugins, too.
          if (initialOptions.outdir !== "dist") return;
          onEnd(({ errors }) => {
            for (const each of ends) each(errors.length > 0);
          });
        },
      },
    ],
  });
  onTestFinished(() => watching.dispose());
  const begun = end(false);
  await watching.watch();
  await begun;
  const broken = end(true);
  edit("work/b.js", "export const a = ((;\n");
  await broken;
  // One more failed build: what is watched now is what failed builds name, and not what the good one did.
  const still = end(true);
  edit("main.ts", `${main}// edited\n`);
  await still;
  const mended = end(false);
  edit("work/b.js", "export const a = 2;\n");
  await mended;
  // The error is in a.js, and its cause is in b.js.
  const missing = end(true);
  edit("work/b.js", "export const other = 1;\n");
  await missing;
  const found = end(false);
  edit("work/b.js", "export const a = 3;\n");
  await found;
});

test("a source file may have any name that a URL would not keep", async () => {
  for (const name of ["c#.ts", "100%.ts", "what?.ts"]) {
    const folder = sources({
      "main.ts": `export { default } from "./${name}";\n`,
      [name]: `${head}export default () => offload(() => 1);\n`,
    });
    expect(await resultOf(await built(folder))).toBe(1);
  }
});

test("Rollup's cache may be that of another instance of the plugin", async () => {
  const folder = sources({ "main.js": `${head}offload(() => 1);\n` });
  let cache: RollupCache | undefined;
  const files: string[][] = [];
  for (let turn = 0; turn < 2; turn++) {
    const bundle = await rollup({
      input: join(folder, "main.js"),
      external: /^clearway/,
      plugins: [rollupPlugin()],
      ...(cache && { cache }),
    });
    cache = bundle.cache;
    files.push((await bundle.generate({ format: "es" })).output.map(({ fileName }) => fileName));
  }
  expect(files[0]).toHaveLength(2);
  expect(files[1]).toEqual(files[0]);
});
