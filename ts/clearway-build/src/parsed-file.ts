// SPDX-License-Identifier: MIT OR Apache-2.0
import { analyze, type Reference, type ScopeManager } from "@typescript-eslint/scope-manager";
import type { TSESTree } from "@typescript-eslint/types";
import { type Comment, type Node, type ParserOptions, type Program, parseSync } from "oxc-parser";

/** A source file with its syntax tree and its scopes. */
export interface ParsedFile {
  readonly code: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly scopes: ScopeManager;
  /** Every use of a name in the file. */
  readonly references: readonly Reference[];
  readonly parents: ReadonlyMap<Node, Node>;
}

type Language = NonNullable<ParserOptions["lang"]>;

// Other plugins may have compiled a file before, so a .ts file may contain JavaScript, and a .js file may contain JSX.
const languages: Readonly<Record<string, readonly Language[]>> = {
  ts: ["ts", "jsx"],
  mts: ["ts", "jsx"],
  cts: ["ts", "jsx"],
  tsx: ["tsx"],
  js: ["jsx", "ts"],
  mjs: ["jsx", "ts"],
  cjs: ["jsx", "ts"],
  jsx: ["jsx", "tsx"],
};

/** Matches the files that may contain calls of `offload()`. */
export const sourceFile = /\.[cm]?[jt]sx?$/;

/** Parses a file. Returns undefined if it has a syntax error: the bundler then reports its own error. */
export function parseFile(path: string, code: string): ParsedFile | undefined {
  for (const lang of languages[path.slice(path.lastIndexOf(".") + 1)] ?? []) {
    const options = { lang, range: true, astType: "ts", sourceType: "module", preserveParens: false } as const;
    const { program, errors, comments } = parseSync(path, code, options);
    if (errors.some(({ severity }) => severity === "Error")) continue;
    const scopes = analyze(program as unknown as TSESTree.Program, {
      sourceType: "module",
      lib: [],
      jsxPragma: null,
      jsxFragmentName: null,
    });
    const references = scopes.scopes.flatMap((scope) => scope.references);
    return { code, program, comments, scopes, references, parents: parentsIn(program) };
  }
  return undefined;
}

/** Returns the nodes directly below a node. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === "parent") continue;
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) children.push(each);
  }
  return children;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function parentsIn(program: Program): Map<Node, Node> {
  const parents = new Map<Node, Node>();
  const open: Node[] = [program];
  for (let node = open.pop(); node; node = open.pop()) {
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      open.push(child);
    }
  }
  return parents;
}

/** Whether one range lies in another one. */
export const within = (inner: { start: number; end: number }, outer: { start: number; end: number }): boolean =>
  inner.start >= outer.start && inner.end <= outer.end;

/** Returns an expression without TypeScript's wrappers: `x as T`, `x!`, `x satisfies T`, `x<T>`. */
export function unwrapped(node: Node): Node {
  let inner = node;
  while (isWrapper(inner)) inner = (inner as unknown as { expression: Node }).expression;
  return inner;
}

const wrappers = [
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "ParenthesizedExpression",
  "ChainExpression",
];

/** Whether the node only wraps an expression and has its value. */
export const isWrapper = (node: Node): boolean => wrappers.includes(node.type);
