// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that the library uses timers, clocks, promises and the like only through `ts/clearway/src/globals.ts`, which captures them when the
// library is loaded. A test that replaces these globals then cannot stop the library. Nothing waits by the machine's clock, which may jump.
import ts from "typescript";
import { isProgram, report } from "../problems.mjs";
import { files } from "../sources.mjs";

const library = "ts/clearway/src/";
const remote = "ts/clearway-nats/src/";

/** The globals, each with what to import instead. */
export const captured = {
  setTimeout: "setTimeout",
  clearTimeout: "clearTimeout",
  setInterval: "setInterval",
  clearInterval: "clearInterval",
  setImmediate: "setImmediate",
  clearImmediate: "a timer",
  queueMicrotask: "queueMicrotask",
  requestAnimationFrame: "globals.requestAnimationFrame",
  structuredClone: "structuredClone",
  performance: "clock or now",
  Promise: "OwnPromise",
  MessageChannel: "newMessageChannel",
  AbortController: "newAbortController",
};

/** The globals that `ts/clearway-nats` captures. NATS's client, which it needs, uses the others itself. */
const ofRemote = /Timeout|Interval|Immediate|performance/;

/** The files whose functions run as source text in a thread of their own, where no test replaces anything, and the capture itself. */
const exempt = [
  `${library}globals.ts`,
  `${remote}clock.ts`,
  `${library}meter/host/browser-beat-worker.ts`,
  `${library}meter/host/node-watchdog.ts`,
];

const isWallClock = (node) =>
  ts.isCallExpression(node) &&
  /^(?:globalThis\.)?(?:Date\.now|process\.hrtime(?:\.bigint)?)$/.test(node.expression.getText());

// The heap of a page is no clock.
const isHeap = (node) => /^\(performance as \{ memory/.test(node.parent?.parent?.getText() ?? "");

/** Returns the names that the file declares or imports. They hide the globals. */
function declared(file) {
  const names = new Set();
  const visit = (node) => {
    const named = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isImportSpecifier(node);
    if ((named || ts.isBindingElement(node)) && ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

// A name in the position of a property or of a type is not a use of the global, except as a property of `globalThis`.
function isUse(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return parent.expression.getText() === "globalThis";
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return parent.name !== node && parent.propertyName !== node;
}

/** Returns the problems in `sources` (`[{ path, text }]`), one sentence each. */
export function globalProblems(sources) {
  const problems = [];
  for (const { path, text } of sources) {
    if (
      ![library, remote].some((folder) => path.startsWith(folder)) ||
      !path.endsWith(".ts") ||
      path.endsWith(".d.ts") ||
      exempt.includes(path)
    )
      continue;
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const own = declared(file);
    const found = (node, name, instead) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const where = path.startsWith(remote) ? "timers from clock.js" : `${instead} from globals.js`;
      problems.push(`${path}:${line + 1}: uses the global ${name}; import ${where}`);
    };
    const visit = (node) => {
      if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
      if (isWallClock(node)) found(node, node.expression.getText(), "clock, or wallMs for a label");
      const isGlobal = ts.isIdentifier(node) && Object.hasOwn(captured, node.text);
      if (isGlobal && (path.startsWith(library) || ofRemote.test(node.text)) && isUse(node) && !isHeap(node)) {
        const qualified = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
        if (qualified || !own.has(node.text)) found(node, node.text, captured[node.text]);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return problems;
}

if (isProgram(import.meta)) {
  const sources = files(/\.ts$/);
  report(globalProblems(sources), "the library uses no global that a test may replace");
}
