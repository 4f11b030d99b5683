// SPDX-License-Identifier: MIT OR Apache-2.0
// The file `typescript-hooks.mjs`, which Node 20 loads on its thread of loaders.
import { type Hooks, hooksWith, loadTransform, type Transformer } from "./transformer.js";

let hooks: Hooks | undefined;

/** Called by Node with the data of `module.register`. Loads the transformer, which the worker has found. */
export function initialize(transformer: Transformer): void {
  const transform = loadTransform(transformer);
  if (transform) hooks = hooksWith(transform);
}

export const resolve: Hooks["resolve"] = (specifier, context, next) =>
  hooks ? hooks.resolve(specifier, context, next) : next(specifier, context);

export const load: Hooks["load"] = (url, context, next) =>
  hooks ? hooks.load(url, context, next) : next(url, context);
