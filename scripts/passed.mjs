// SPDX-License-Identifier: MIT OR Apache-2.0
// Remembers which stages have passed with which files, so that the next `make test` leaves out a stage whose files are unchanged. It keeps
// them in node_modules/.cache: a clean clone runs everything.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { paths, root } from "./sources.mjs";

// What every stage depends on. Debian's list of installed packages changes with each browser, server or JDK that is installed or updated.
const always = ["package.json", "package-lock.json", "tsconfig.base.json", "scripts"];
const installed = "/var/lib/dpkg/status";

const remembered = join(root, "node_modules/.cache/clearway/passed.json");
const sha = (data) => createHash("sha256").update(data).digest("hex");

/** The stages that have passed. `folder` is the checkout, `path` the file that keeps them between runs. */
export class Passed {
  #folder;
  #path;
  #system;
  #entries;

  constructor(folder = root, path = remembered) {
    this.#folder = folder;
    this.#path = path;
    try {
      this.#entries = JSON.parse(readFileSync(path, "utf8"));
    } catch {
      this.#entries = {}; // the first run, or a file that an interrupted run has left
    }
  }

  /** Returns a key of all that the stage's result depends on, or undefined for a stage that does not say by `reads` which files it reads. */
  keyOf({ command, env, reads }) {
    if (reads === undefined) return undefined;
    const under = [...always, ...reads];
    this.#system ??= existsSync(installed) ? sha(readFileSync(installed)) : "";
    const variables = Object.entries(process.env).filter(([name]) => /^(CLEARWAY_|NODE_OPTIONS$)/.test(name));
    const files = paths(/./, this.#folder)
      .filter((name) => under.some((each) => name === each || name.startsWith(`${each}/`)))
      .map((name) => [name, sha(readFileSync(join(this.#folder, name)))]);
    return sha(JSON.stringify([process.version, this.#system, variables.sort(), command, env, files]));
  }

  /** Returns what `add` has kept for this stage with this key, or undefined. */
  find(name, key) {
    const entry = this.#entries[name];
    return key !== undefined && entry?.key === key ? entry : undefined;
  }

  /** Keeps that the stage has passed, with its numbers of tests. Writes the file at once, because the run may be interrupted. */
  add(name, key, tests) {
    if (key === undefined) return;
    this.#entries[name] = { key, ...(tests && { tests }) };
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#entries));
  }
}
