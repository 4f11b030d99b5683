// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Definition, Reference, Variable } from "@typescript-eslint/scope-manager";
import type { Node } from "oxc-parser";
import { childrenOf, type ParsedFile, unwrapped, within } from "./parsed-file.js";
import type { Refusal } from "./refusal.js";

/** What a function uses of the file around it. */
export interface Captures {
  /** Names of captured variables, in the order of their first use. Their values become arguments. */
  readonly values: readonly string[];
  /** Imports that the function uses. Its task file has them, too. */
  readonly imports: ReadonlySet<Variable>;
  readonly refusals: readonly Refusal[];
}

/** Finds what the function captures, and what it may not use in a worker. */
export function capturesOf(file: ParsedFile, fn: Node): Captures {
  const values = new Set<string>();
  const imports = new Set<Variable>();
  const refusals: Refusal[] = [];
  const refuse = ({ start, end }: { start: number; end: number }, message: string): void => {
    refusals.push({ start, end, message });
  };

  for (const reference of freeReferences(file, fn)) {
    const { resolved } = reference;
    const place = reference.identifier as unknown as Node & { name: string };
    const { name } = place;
    if (name === "arguments") {
      refuse(place, "an offloaded arrow function cannot use the `arguments` around it; name the parameters");
      continue;
    }
    if (!resolved || resolved.defs.every(isAmbient)) continue;
    const kinds = resolved.defs.map(({ type }) => type as string);
    if (kinds.includes("ImportBinding")) {
      if (isImportEquals(resolved)) refuse(place, `write the import of \`${name}\` as an ES import to use it here`);
      else imports.add(resolved);
    } else if (reference.isWrite()) {
      refuse(
        place,
        `an offloaded function has a copy of \`${name}\` and cannot assign to it; return the new value instead`,
      );
    } else {
      const what = codeIn(resolved);
      if (what)
        refuse(place, `the ${what} \`${name}\` cannot cross to a worker; move it to a module and import it here`);
      else values.add(name);
    }
  }
  if (isFunction(fn)) refuseOwn(fn, refuse);
  refusals.push(...foreignPrivateNames(fn));
  return { values: [...values], imports, refusals: refusals.sort((one, other) => one.start - other.start) };
}

/** Returns the uses of values inside a function that the function does not declare itself, in the order of the text. */
function freeReferences(file: ParsedFile, fn: Node): Reference[] {
  return file.references
    .filter((reference) => {
      const place = reference.identifier as unknown as Node;
      if (!reference.isValueReference || !within(place, fn) || isTypeQuery(file, place)) return false;
      const { resolved } = reference;
      return !resolved || !within(resolved.scope.block as unknown as Node, fn);
    })
    .sort((one, other) => one.identifier.range[0] - other.identifier.range[0]);
}

/** Whether the name is in a type: `typeof name`. */
function isTypeQuery({ parents }: ParsedFile, place: Node): boolean {
  let parent = parents.get(place);
  while (parent?.type === "TSQualifiedName") parent = parents.get(parent);
  return parent?.type === "TSTypeQuery";
}

// `declare const version: string` names a global, which bundlers may replace.
function isAmbient({ node, parent }: Definition): boolean {
  return [node, parent].some((each) => (each as { declare?: boolean } | null | undefined)?.declare === true);
}

function isImportEquals({ defs }: Variable): boolean {
  return defs.some(({ node }) => (node.type as string) === "TSImportEqualsDeclaration");
}

/** Returns what kind of code the variable holds. Undefined if it may hold data. */
function codeIn({ defs }: Variable): string | undefined {
  for (const { type, node } of defs) {
    if ((type as string) === "FunctionName") return "function";
    if ((type as string) === "ClassName") return "class";
    if ((type as string) === "TSModuleName") return "namespace";
    const declared = node as unknown as Node;
    if (declared.type !== "VariableDeclarator" || declared.id.type !== "Identifier" || !declared.init) continue;
    const { type: initial } = unwrapped(declared.init);
    if (initial === "ArrowFunctionExpression" || initial === "FunctionExpression") return "function";
    if (initial === "ClassExpression") return "class";
  }
  return undefined;
}

/** Whether the expression is a function that is written here. */
export const isFunction = (node: Node): boolean =>
  node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression";

type Refuse = (place: Node, message: string) => void;

/** Refuses `this`, `super` and `new.target` of the function itself. Functions and classes inside it have their own. */
function refuseOwn(fn: Node, refuse: Refuse): void {
  const arrow = fn.type === "ArrowFunctionExpression";
  const visit = (node: Node): void => {
    if (node.type === "FunctionExpression" || node.type === "FunctionDeclaration") return;
    // `typeof this.name` is a type. The end of an element repeats the name of its start.
    if (node.type === "TSTypeQuery" || node.type === "JSXClosingElement") return;
    const inJsx = node.type === "JSXMemberExpression" && node.object.type === "JSXIdentifier" ? node.object : undefined;
    if (node.type === "ThisExpression" || inJsx?.name === "this") {
      refuse(
        inJsx ?? node,
        "an offloaded function has no `this`; pass what it needs as an argument, or put it into a variable",
      );
    } else if (node.type === "Super") {
      refuse(node, "an offloaded function cannot use `super`; move the code to a module and import it");
    } else if (arrow && node.type === "MetaProperty" && node.meta.name === "new") {
      refuse(node, "an offloaded arrow function cannot use `new.target`; put its value into a variable");
    }
    for (const child of childrenOf(node)) {
      if (child.type === "ClassBody") ownInClass(child, visit);
      else visit(child);
    }
  };
  for (const child of childrenOf(fn)) visit(child);
}

// The computed keys and the decorators of a class's members belong to the code around the class.
function ownInClass(body: Node, visit: (node: Node) => void): void {
  for (const member of childrenOf(body)) {
    const { computed, key, decorators } = member as { computed?: boolean; key?: Node; decorators?: Node[] };
    if (computed && key) visit(key);
    for (const decorator of decorators ?? []) visit(decorator);
  }
}

/** Refuses `object.#name` if the class with that name is around the function. */
function foreignPrivateNames(fn: Node): Refusal[] {
  const refusals: Refusal[] = [];
  const visit = (node: Node, known: ReadonlySet<string>): void => {
    let names = known;
    if (node.type === "ClassBody") names = new Set([...known, ...privateNames(node)]);
    if (node.type === "PrivateIdentifier" && !names.has(node.name)) {
      const message = `the private name #${node.name} belongs to a class around the function; pass its value as an argument`;
      refusals.push({ start: node.start, end: node.end, message });
    }
    for (const child of childrenOf(node)) visit(child, names);
  };
  visit(fn, new Set());
  return refusals;
}

function privateNames(body: Node): string[] {
  return childrenOf(body).flatMap((member) => {
    const { key } = member as { key?: Node };
    return key?.type === "PrivateIdentifier" ? [key.name] : [];
  });
}
