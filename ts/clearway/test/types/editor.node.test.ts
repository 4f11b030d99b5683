// SPDX-License-Identifier: MIT OR Apache-2.0
// What an editor shows at the call of a task: TypeScript's language service over the built declarations.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const tasks = `import { expose } from "clearway/worker";
export default expose({
  /** Adds two numbers. */
  add: (a: number, b: number): number => a + b,
});
`;
const app = `import { pool } from "clearway";
import type tasks from "./editor-tasks.js";
const made = pool<typeof tasks>(new URL("./editor-tasks.js", import.meta.url));
await made.call.add(1, 2);
await made.with({ strict: true }).call.add(1, 2);
await made.map.add([1], { args: [2] });
await made.broadcast.add(1, 2);
`;
const files: Record<string, string> = { [`${here}editor-tasks.ts`]: tasks, [`${here}editor-app.ts`]: app };

// Every property of each kind of options, as an app has them that may not have a value.
const optionsOf = {
  clearway: ["PoolOptions", "CallOptions", "MapOptions", "RunOptions", "ResourceLimits"],
  "clearway/callback": ["CallbackOptions", "ProxyOptions"],
  "clearway/channel": [
    "EndpointOptions",
    "ListenOptions",
    "ServeOptions",
    "CallOptions",
    "StandardOptions",
    "JsonOptions",
  ],
  "clearway/meter": ["WatchOptions", "MeasureOptions", "PingOptions", "FrameDropsOptions", "DeviceFactorOptions"],
  "clearway/records": ["WriterOptions", "InferOptions", "ObjectWindow"],
  "clearway/channel/websocket": ["WebSocketOptions"],
  "clearway/channel/websocket-server": ["WebSocketServerOptions"],
};
const given = Object.entries(optionsOf).flatMap(([entry, names]) =>
  names.map((name) => {
    const type = `import("${entry}").${name}`;
    return [type, `${here}editor-${entry.replaceAll("/", "-")}-${name}.ts`] as const;
  }),
);
for (const [type, file] of given)
  files[file] = `declare const given: { [Name in keyof ${type}]: ${type}[Name] | undefined };
export const options: ${type} = given;
`;

const configFile = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));
const { options } = ts.getParsedCommandLineOfConfigFile(
  configFile,
  {},
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
)!;
// As `tsc --init` sets it.
options.exactOptionalPropertyTypes = true;
const service = ts.createLanguageService({
  getScriptFileNames: () => Object.keys(files),
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    const text = files[name] ?? ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => here,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name in files || ts.sys.fileExists(name),
  readFile: (name) => files[name] ?? ts.sys.readFile(name),
});

describe.each(["made.call.", "strict: true }).call.", "made.map.", "made.broadcast."])("at %sadd", (before) => {
  const file = `${here}editor-app.ts`;
  const at = app.indexOf(`${before}add(`) + before.length;

  test("an editor shows the comment of the task", () => {
    const shown = service.getQuickInfoAtPosition(file, at)!;
    expect(ts.displayPartsToString(shown.documentation)).toBe("Adds two numbers.");
  });

  test("an editor goes to the definition of the task", () => {
    const [definition] = service.getDefinitionAtPosition(file, at)!;
    expect(definition).toMatchObject({ fileName: `${here}editor-tasks.ts`, name: "add" });
  });

  test("an editor renames the task with all its calls", () => {
    const places = service.findRenameLocations(file, at, false, false, {})!;
    const counts = ["tasks", "app"].map(
      (name) => places.filter(({ fileName }) => fileName === `${here}editor-${name}.ts`).length,
    );
    expect(counts).toEqual([1, 4]);
  });
});

test.each(given)("every property may be undefined in %s", (_type, file) => {
  const found = service
    .getSemanticDiagnostics(file)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  expect(found).toEqual([]);
});
