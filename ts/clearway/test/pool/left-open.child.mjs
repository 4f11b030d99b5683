// SPDX-License-Identifier: MIT OR Apache-2.0
// A test runner's world without the runner: loads the library through a module loader of its own, uses a pool, takes the loader away, and
// leaves the pool open. Prints the modules that were asked for after that, as JSON.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { SourceTextModule, SyntheticModule } from "node:vm";

const [entry, tasks] = process.argv.slice(2);
const modules = new Map();
const late = [];
let gone = false;

async function moduleOf(specifier, from) {
  if (specifier.startsWith("node:")) {
    const real = await import(specifier);
    const names = Object.keys(real);
    return new SyntheticModule(names, function () {
      for (const name of names) this.setExport(name, real[name]);
    });
  }
  const url = new URL(specifier, from).href;
  const made =
    modules.get(url) ??
    readFile(fileURLToPath(url), "utf8").then(
      (text) =>
        new SourceTextModule(text, {
          identifier: url,
          initializeImportMeta: (meta) => {
            meta.url = url;
          },
          importModuleDynamically: async (wanted) => {
            if (gone) {
              late.push(wanted);
              throw new ReferenceError(`${wanted} was asked for after the environment was gone`);
            }
            return load(wanted, url);
          },
        }),
    );
  modules.set(url, made);
  return made;
}

async function load(specifier, from) {
  const module = await moduleOf(specifier, from);
  if (module.status === "unlinked") await module.link((wanted, { identifier }) => moduleOf(wanted, identifier));
  await module.evaluate();
  return module;
}

const { pool } = (await load(entry, import.meta.url)).namespace;
const ended = Promise.withResolvers?.() ?? {};
ended.promise ??= new Promise((resolve) => {
  ended.resolve = resolve;
});
let workers = 0;
process.on("worker", (worker) => {
  workers++;
  worker.once("exit", () => --workers === 0 && ended.resolve());
});

const used = pool(tasks, { size: { min: 0, max: 2, idleMs: 20 }, metrics: true });
const plain = pool(tasks, { size: { min: 0, max: 1, idleMs: 20 } });
for (const each of [used, plain]) {
  await each.call.add(1, 2);
  for await (const _value of each.call.numbers(3));
  await each.call.firstOf(
    (async function* () {
      yield 1;
    })(),
  );
  await each.advise();
}
// A worker that is killed for a task that does not stop, and the one in its place.
const lost = plain.with({ timeoutMs: 5 }).call.never();
gone = true;
await lost.catch(() => {});
// Idle workers are let go of without anybody.
await ended.promise;
await used.close();
await plain.terminate();
console.log(JSON.stringify(late));
