// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Variable } from "@typescript-eslint/scope-manager";
import type { CallExpression, ImportDeclaration, Node } from "oxc-parser";
import { isWrapper, type ParsedFile } from "./parsed-file.js";

/** The module whose `offload` is looked for. */
export const offloadModule = "clearway/offload";

/** What an expression is: the module's namespace, `offload` itself, or the result of `offload.with()`. */
type Meaning = "namespace" | "offload" | "with";

/**
 * Finds the calls of `offload` by its import: also under another name, through `import * as`, through `offload.with(…)` and through a
 * `const` that holds one of them.
 */
export function findCalls(file: ParsedFile): CallExpression[] {
  const calls: CallExpression[] = [];
  const seen = new Set<Variable>();

  const follow = (variable: Variable, meaning: Meaning): void => {
    if (seen.has(variable)) return;
    seen.add(variable);
    for (const { identifier } of variable.references) use(identifier as unknown as Node, meaning);
  };

  const use = (node: Node, meaning: Meaning): void => {
    const parent = file.parents.get(node);
    if (!parent) return;
    if (isWrapper(parent)) return use(parent, meaning);
    if (parent.type === "CallExpression" && parent.callee === node && meaning !== "namespace") {
      calls.push(parent);
    } else if (parent.type === "MemberExpression" && parent.object === node) {
      const name = nameOf(parent.property, parent.computed);
      if (meaning === "namespace" && name === "offload") use(parent, "offload");
      else if (meaning === "offload" && name === "with") useWith(parent);
    } else if (parent.type === "VariableDeclarator" && parent.init === node && parent.id.type === "Identifier") {
      const declaration = file.parents.get(parent);
      if (declaration?.type !== "VariableDeclaration" || declaration.kind !== "const") return;
      const [variable] = file.scopes.getDeclaredVariables(parent as never);
      if (variable) follow(variable, meaning);
    }
  };

  // `offload.with(options)` has a value that is called like `offload`.
  const useWith = (method: Node): void => {
    const parent = file.parents.get(method);
    if (parent && isWrapper(parent)) useWith(parent);
    else if (parent?.type === "CallExpression" && parent.callee === method) use(parent, "with");
  };

  for (const declaration of importsOf(file)) {
    for (const variable of file.scopes.getDeclaredVariables(declaration as never)) {
      const meaning = importedAs(declaration, variable);
      if (meaning) follow(variable, meaning);
    }
  }
  return calls.sort((one, other) => one.start - other.start);
}

function importsOf({ program }: ParsedFile): ImportDeclaration[] {
  return program.body.filter(
    (statement): statement is ImportDeclaration =>
      statement.type === "ImportDeclaration" &&
      statement.source.value === offloadModule &&
      statement.importKind !== "type",
  );
}

function importedAs(declaration: ImportDeclaration, variable: Variable): Meaning | undefined {
  for (const specifier of declaration.specifiers) {
    if (specifier.local.name !== variable.name) continue;
    if (specifier.type === "ImportNamespaceSpecifier") return "namespace";
    if (specifier.type !== "ImportSpecifier" || specifier.importKind === "type") continue;
    const { imported } = specifier;
    if ((imported.type === "Literal" ? imported.value : imported.name) === "offload") return "offload";
  }
  return undefined;
}

function nameOf(property: Node, computed: boolean): string | undefined {
  if (!computed && property.type === "Identifier") return property.name;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}
