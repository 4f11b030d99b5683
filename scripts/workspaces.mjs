// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists the npm packages of this repository, by the workspaces in the root's package.json.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** Returns all packages as `[{ name, folder, manifest }]`, in the order of the workspaces. `folder` is relative to the root. */
export function workspaces(at = root) {
  return read(join(at, "package.json"))
    .workspaces.flatMap((pattern) => {
      if (!pattern.endsWith("/*")) return [pattern];
      const parent = pattern.slice(0, -2);
      return readdirSync(join(at, parent))
        .sort()
        .map((name) => `${parent}/${name}`);
    })
    .filter((folder) => existsSync(join(at, folder, "package.json")))
    .map((folder) => {
      const manifest = read(join(at, folder, "package.json"));
      return { name: manifest.name, folder, manifest };
    });
}

/** Returns the packages that a release publishes: those that are not private. */
export const published = (at = root) => workspaces(at).filter(({ manifest }) => manifest.private !== true);
