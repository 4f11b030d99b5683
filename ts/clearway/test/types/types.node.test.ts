// SPDX-License-Identifier: MIT OR Apache-2.0
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const configFile = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));

// The compiler does the checks: an unused `@ts-expect-error` is an error, and so is an `expectTypeOf` with another type.
test("type tests compile, and invalid code in them does not, against the built declarations", () => {
  const config = ts.getParsedCommandLineOfConfigFile(
    configFile,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  );
  const files = readdirSync(here).filter((name) => name.endsWith(".test-d.ts"));
  expect(files.length).toBeGreaterThan(0);
  const program = ts.createProgram(
    files.map((name) => here + name),
    config!.options,
  );
  const problems = ts.getPreEmitDiagnostics(program).map((problem) => {
    const text = ts.flattenDiagnosticMessageText(problem.messageText, "\n");
    if (problem.file === undefined) return text;
    const { line } = problem.file.getLineAndCharacterOfPosition(problem.start ?? 0);
    return `${problem.file.fileName.slice(here.length)}:${line + 1} ${text}`;
  });
  expect(problems).toEqual([]);
}, 60_000);
