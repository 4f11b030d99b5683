// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds and serves small apps with the plugin for Vite. Each app exports its `offload`, whose pool ends with the test.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Offload } from "clearway/offload";
import clearway from "clearway-build/vite";
import { build, createServer, defaultServerConditions, type InlineConfig, type Plugin } from "vite";
import { expect, onTestFinished, test } from "vitest";
import { sources } from "./app.js";

interface App {
  readonly default: () => Promise<unknown>;
  readonly offload: Offload;
}

const head = 'import { offload } from "clearway/offload";\nexport { offload };\n';

async function resultOf(app: App): Promise<unknown> {
  onTestFinished(() => app.offload.terminate());
  return app.default();
}

/** Runs `main.ts` of the folder in Vite's dev server for servers. Returns the result of its default export. */
async function served(root: string, config: InlineConfig = {}): Promise<unknown> {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "silent",
    cacheDir: join(root, "cache"),
    appType: "custom",
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { middlewareMode: true, ws: false, hmr: false, watch: null },
    ...config,
    plugins: [...(config.plugins ?? []), clearway()],
  });
  onTestFinished(() => server.close());
  return resultOf((await server.ssrLoadModule("/main.ts")) as App);
}

test("one instance of the plugin builds a server again after a change", async () => {
  const root = sources({});
  const plugins = [clearway()];
  for (const value of [1, 2]) {
    const outDir = join(root, `dist${value}`);
    writeFileSync(join(root, "main.ts"), `${head}export default () => offload(() => ${value});\n`);
    await build({ root, configFile: false, logLevel: "silent", plugins, build: { ssr: "main.ts", outDir } });
    const url = pathToFileURL(join(outDir, "main.js")).href;
    expect(await resultOf((await import(/* @vite-ignore */ url)) as App)).toBe(value);
  }
});

test("a function in the dev server of a server has the plugins in worker.plugins", async () => {
  const virtual = (): Plugin => ({
    name: "virtual",
    resolveId: (id) => (id === "virtual:value" ? "\0virtual:value" : undefined),
    load: (id) => (id === "\0virtual:value" ? "export const value = 42;" : undefined),
  });
  const root = sources({
    "main.ts": `${head}import { value } from "virtual:value";\nexport default () => offload(() => value);\n`,
  });
  expect(await served(root, { plugins: [virtual()], worker: { plugins: () => [virtual()] } })).toBe(42);
});

test("a function in the dev server of a server has the app's env files and resolve.conditions", async () => {
  const root = sources({
    "main.ts": `${head}import which from "#which";\nexport default () => offload(() => [import.meta.env.APP_X, which]);\n`,
    "env/.env": "APP_X=from the file\n",
    "package.json": '{ "imports": { "#which": { "mine": "./mine.js", "default": "./other.js" } } }',
    "mine.js": 'export default "mine";\n',
    "other.js": 'export default "other";\n',
  });
  const config: InlineConfig = {
    envDir: "env",
    envPrefix: "APP_",
    ssr: { resolve: { conditions: ["mine", ...defaultServerConditions] } },
  };
  expect(await served(root, config)).toEqual(["from the file", "mine"]);
});

test("a function in the dev server of a server finds the app's packages if cacheDir is outside of the app", async () => {
  const root = sources({
    "main.ts": `${head}import dep from "dep";\nexport default () => offload(() => dep);\n`,
    "package.json": "{}",
    "node_modules/dep/package.json": '{ "name": "dep", "type": "module", "exports": "./index.js" }',
    "node_modules/dep/index.js": 'export default "a package of the app";\n',
  });
  expect(await served(root, { cacheDir: sources({}) })).toBe("a package of the app");
});
