// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows the quick starts of docs/runs-with.md with their own files and commands. The packages that `npm install` names are linked from
// installed ones, so that no network is needed.
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer, type InlineConfig } from "vite";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launch } from "../packaging/chromium.js";
import { makeFolder, pack, removeFolder, root } from "../packaging/clean-folder.js";
import { allEntries } from "./apps.js";
import { type App, makeApp } from "./tools.js";

let folder: string;
let library: string;
const apps: App[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  library = await pack("clearway", folder);
});
afterAll(() => removeFolder(folder));
afterEach(async () => {
  for (const app of apps.splice(0)) await removeFolder(app.folder);
});

interface Start {
  readonly app: App;
  /** The commands that install nothing. */
  readonly commands: string[];
}

const modules = join(root, "node_modules");
const packages: Record<string, { path: string; bin: string }> = {
  tsx: { path: join(modules, "tsx"), bin: "dist/cli.mjs" },
  vite: { path: join(modules, "vite"), bin: "bin/vite.js" },
  vitest: { path: join(modules, "vitest"), bin: "vitest.mjs" },
};

/** Makes the app of a quick start from the page. */
async function follow(title: string): Promise<Start> {
  const page = await readFile(join(root, "docs/runs-with.md"), "utf8");
  const sections = page.split(/^(?=#{2,3} )/m);
  const [section = "", plain = ""] = [title, "Plain JavaScript"].map((each) =>
    sections.find((text) => text.startsWith(`### ${each}\n`)),
  );
  const filesOf = (text: string) =>
    Object.fromEntries([...text.matchAll(/`([\w.]+)`:\n\n```\w+\n(.*?)```/gs)].map(([, name, code]) => [name, code]));
  const files = filesOf(section);
  // The page shows the task module once.
  const tasks = filesOf(plain)["primes.tasks.js"];
  if (section.includes("is `primes.tasks.js` with `limit: number`"))
    files["primes.tasks.ts"] = tasks.replace("(limit)", "(limit: number)");
  const [, shell = ""] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const lines = shell.trim().split("\n");
  const named = lines.flatMap((line) => /^npm install -D (.*)/.exec(line)?.[1]?.split(" ") ?? []);
  const app = await makeApp(
    library,
    files,
    Object.fromEntries(named.map((name) => [name, packages[name]?.path ?? ""])),
  );
  apps.push(app);
  await mkdir(app.path("node_modules/.bin"), { recursive: true });
  for (const name of named)
    await symlink(join(packages[name]?.path ?? "", packages[name]?.bin ?? ""), app.path(`node_modules/.bin/${name}`));
  return { app, commands: lines.filter((line) => !line.startsWith("npm install")) };
}

async function lastOutput({ app, commands }: Start): Promise<string> {
  await removeFolder(app.path("package.json"));
  let output = "";
  for (const command of commands) output = await app.run("sh", "-c", command);
  return output;
}

test.each(["Plain JavaScript", "TypeScript with tsx"])("%s prints the result", async (title) => {
  expect(await lastOutput(await follow(title))).toBe("78498\n");
});

test("A test with Vitest passes", async () => {
  expect(await lastOutput(await follow("A test with Vitest"))).toMatch(/1 passed/);
});

/** Opens the app in Vite's dev server, whose cache is empty. Returns the text that the heading has at last, and how often the page loaded. */
async function served(app: App, config: InlineConfig = {}): Promise<{ heading: string | null; loads: number }> {
  const options = {
    root: app.folder,
    configFile: false,
    logLevel: "silent",
    server: { host: "127.0.0.1", port: 0 },
  } as const;
  const server = await createServer({ ...options, ...config });
  const browser = await launch();
  try {
    await server.listen();
    const tab = await browser.newPage();
    let loads = 0;
    tab.on("domcontentloaded", () => loads++);
    await tab.goto(server.resolvedUrls?.local[0] ?? "");
    await tab.waitForFunction(() => /^\d+$/.test(document.querySelector("h1")?.textContent ?? ""));
    return { heading: await tab.textContent("h1"), loads };
  } finally {
    await browser.close();
    await server.close();
  }
}

test("A page with Vite shows the result", async () => {
  const { app, commands } = await follow("A page with Vite");
  expect(commands.at(-1)).toBe("npx vite");
  expect(await served(app)).toEqual({ heading: "78498", loads: 1 });
});

/** Makes a page whose worker imports every entry for pages. The heading is the number of entries. */
async function pageOfAllEntries(): Promise<{ app: App; count: string }> {
  const start = await follow("A page with Vite");
  const manifest = await readFile(start.app.path("node_modules/clearway/package.json"), "utf8");
  const { tasks, count } = allEntries(manifest, "countPrimes");
  await writeFile(start.app.path("primes.tasks.ts"), tasks);
  const main = await readFile(start.app.path("main.ts"), "utf8");
  await writeFile(
    start.app.path("main.ts"),
    main.replace("countPrimes(1_000_000)", "$&.then((table) => table.at(0).count)"),
  );
  return { app: start.app, count };
}

test("A page whose worker alone imports every entry runs in Vite with a cold cache, and loads once with the configuration of the page", async () => {
  const { app, count } = await pageOfAllEntries();
  expect(await served(app, { optimizeDeps: { exclude: ["clearway"] } })).toEqual({ heading: count, loads: 1 });
  await removeFolder(app.path("node_modules/.vite"));
  expect((await served(app)).heading).toBe(count);
});
