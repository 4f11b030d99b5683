// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of one small app, in the forms that different tools need. The app prints "15 red".

/** TypeScript that a compiler or bundler must read: an enum, and imports of `.js` files that are `.ts` files. */
export const tasks = [
  'import { expose } from "clearway/worker";',
  'import { Color, sum } from "./sum.js";',
  "export default expose({ total: (values: number[]) => sum(values) + ' ' + Color[Color.red] });",
].join("\n");

export const sum = [
  "export enum Color { green, red }",
  "export const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);",
].join("\n");

const use = (source: string, types: string): string =>
  [
    'import { pool } from "clearway";',
    `const tasks = pool<typeof import("${types}")>(${source});`,
    "try {",
    "  console.log(await tasks.call.total([4, 5, 6]));",
    "} finally {",
    "  await tasks.close();",
    "}",
  ].join("\n");

export const main = use('new URL("./tally.tasks.js", import.meta.url)', "./tally.tasks.js");
export const mainTs = use('new URL("./tally.tasks.ts", import.meta.url)', "./tally.tasks.js");

export const typeScriptApp = { "tally.tasks.ts": tasks, "sum.ts": sum, "main.ts": main, "main-ts.ts": mainTs };

/** TypeScript that Node 24 loads: types that can be removed, and imports of `.ts` files. */
export const strippedApp = {
  "tally.tasks.ts": tasks.replace("./sum.js", "./sum.ts"),
  "sum.ts": sum.replace(
    "export enum Color { green, red }",
    'export const Color: Record<string | number, string | number> = { red: 1, 1: "red" };',
  ),
  "main.ts": main.replaceAll("./tally.tasks.js", "./tally.tasks.ts"),
};

/** The app as CommonJS with TypeScript's syntax. */
export const commonJsTypeScriptApp = {
  "package.json": '{ "name": "consumer", "private": true }',
  "tally.tasks.ts": tasks.replace("./sum.js", "./sum"),
  "sum.ts": sum,
  "main.ts": [
    'import { join } from "node:path";',
    'import { pool } from "clearway";',
    "async function main() {",
    '  const tasks = pool<any>(join(__dirname, "tally.tasks.ts"));',
    "  console.log(await tasks.call.total([4, 5, 6]));",
    "  await tasks.close();",
    "}",
    "void main();",
  ].join("\n"),
};

const javaScript = (text: string): string => text.replace(/: number\[\]/g, "").replace(/<typeof import\([^)]*\)>/, "");

export const javaScriptApp = {
  "tally.tasks.js": javaScript(tasks),
  "sum.js":
    'export const Color = { red: 1, 1: "red" };\nexport const sum = (values) => values.reduce((all, each) => all + each, 0);',
  "main.js": javaScript(main),
};

export const commonJsApp = {
  "package.json": '{ "name": "consumer", "private": true }',
  "tally.tasks.js": [
    'const { expose } = require("clearway/worker");',
    "exports.default = expose({ total: (values) => values.reduce((all, each) => all + each, 0) + ' red' });",
  ].join("\n"),
  "main.js": [
    'const { join } = require("node:path");',
    'const { pool } = require("clearway");',
    'const tasks = pool(join(__dirname, "tally.tasks.js"));',
    "tasks.call.total([4, 5, 6]).then(console.log).finally(() => tasks.close());",
  ].join("\n"),
};

/** A page whose title is the result. */
export const page = (script: string, type = "module"): string =>
  `<!doctype html><title></title><script type="${type}" src="${script}"></script>`;

export const pageMain = (task: string): string =>
  [
    'import { pool } from "clearway";',
    `const tasks = pool(() => new Worker(new URL("./${task}", import.meta.url), { type: "module" }));`,
    "tasks.call.total([4, 5, 6]).then(",
    "  (text) => (document.title = text),",
    "  (error) => (document.title = String(error)),",
    ").finally(() => tasks.close());",
  ].join("\n");

/** A page whose title is the number of rows of an Arrow table, or the code and the message of the error. */
export const arrowPage = [
  'import { f64, record } from "clearway/records";',
  "const Point = record({ x: f64 });",
  "export const done = Point.tableOf([{ x: 1 }, { x: 2 }]).toArrow().then(",
  "  ({ numRows }) => (document.title = numRows + ' rows'),",
  "  ({ code, message }) => (document.title = code + ': ' + message),",
  ");",
].join("\n");

/** A Next.js app that is exported as static files. `root` is the folder that Turbopack may read. */
export const nextApp = (root: string): Record<string, string> => ({
  "package.json": '{ "name": "consumer", "private": true, "type": "module" }',
  "next.config.mjs": `export default { output: "export", turbopack: { root: ${JSON.stringify(root)} } };`,
  "app/layout.js": 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  "app/page.js": [
    '"use client";',
    'import { useEffect, useState } from "react";',
    'import { pool } from "clearway";',
    "export default function Page() {",
    '  const [text, setText] = useState("");',
    "  useEffect(() => {",
    '    const tasks = pool(() => new Worker(new URL("./tally.tasks.js", import.meta.url), { type: "module" }));',
    "    tasks.call.total([4, 5, 6]).then(setText, (error) => setText(String(error)));",
    "    return () => void tasks.close();",
    "  }, []);",
    "  return <title>{text}</title>;",
    "}",
  ].join("\n"),
  "app/tally.tasks.js": javaScriptApp["tally.tasks.js"],
  "app/sum.js": javaScriptApp["sum.js"],
});

/**
 * A task module that imports every entry for pages, from the package.json of the library. Its task `name` returns a table with one row, whose
 * `count` is the number of entries.
 */
export function allEntries(manifest: string, name: string): { tasks: string; count: string } {
  const { exports } = JSON.parse(manifest) as { exports: Record<string, { default?: string }> };
  const entries = Object.entries(exports)
    .filter(([entry, to]) => to.default?.includes("/browser/") && !/worker$|arrow$/.test(entry))
    .map(([entry]) => entry.replace(".", "clearway"));
  const tasks = [
    ...entries.map((entry, at) => `import * as entry${at} from "${entry}";`),
    'import { record, u32 } from "clearway/records";',
    'import { expose } from "clearway/worker";',
    "const Count = record({ count: u32 });",
    `export default expose({ ${name}() {`,
    "  const table = Count.table();",
    `  table.push({ count: [${entries.map((_, at) => `entry${at}`)}].filter((entry) => Object.keys(entry).length > 0).length });`,
    "  return table;",
    "} });",
  ].join("\n");
  return { tasks, count: String(entries.length) };
}
