// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows the quick starts of docs/runs-with.md with their own files and commands. The packages that `npm install` names are linked from
// installed ones, so that no network is needed.
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "vite";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launch } from "../packaging/chromium.js";
import { makeFolder, pack, removeFolder, root } from "../packaging/clean-folder.js";
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

test("A page with Vite shows the result", async () => {
  const { app, commands } = await follow("A page with Vite");
  expect(commands.at(-1)).toBe("npx vite");
  const server = await createServer({
    root: app.folder,
    configFile: false,
    logLevel: "error",
    server: { host: "127.0.0.1", port: 0, ws: false },
  });
  const browser = await launch();
  try {
    await server.listen();
    const tab = await browser.newPage();
    await tab.goto(server.resolvedUrls?.local[0] ?? "");
    await tab.waitForFunction(() => document.querySelector("h1")?.textContent !== "");
    expect(await tab.textContent("h1")).toBe("78498");
  } finally {
    await browser.close();
    await server.close();
  }
});
