// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the committed public API of each npm package, in its file `api.txt`, with the built declarations. Every change of the API is
// therefore visible in a review. `--write` replaces the committed API with the built one.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { isProgram, report } from "../problems.mjs";
import { root } from "../sources.mjs";

const folders = ["ts/clearway", "ts/clearway-build", "ts/clearway-native", "ts/clearway-nats"];

/** Returns the entry points in a package's manifest as `[{ name, file }]`: `clearway/meter/trace` and `meter-trace.d.ts`. */
function entriesOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([path, { types }]) =>
    types === undefined ? [] : [{ name: name + path.slice(1), file: basename(types) }],
  );
}

/** The names of the files with the entry points of each npm package, in the package's `src`, without the extension. */
export const packages = Object.fromEntries(
  folders.map((folder) => [folder, entriesOf(folder).map(({ file }) => file.replace(/\.d\.ts$/, ""))]),
);

/**
 * Returns the public API of a package as one text: for each of `[{ name, file }]`, the declarations of an entry point and what it exports of
 * the others. Declarations of several entry points are in files of their own, whose names and number the build chooses. So that the text does not
 * depend on these files, such declarations come last, sorted by name. `sources` has the text of each built declaration file by its name.
 */
export function snapshot(entries, sources) {
  const parts = new Map(Object.entries(sources).map(([file, text]) => [file, read(file, text)]));
  const isShared = (file) => entries.every((entry) => entry.file !== file);
  const declared = new Map(); // the files that declare a name
  for (const [file, { declarations }] of parts)
    for (const { name } of declarations) declared.set(name, new Set(declared.get(name)).add(file));

  /** Finds the declaration of what a file exports under a name. */
  function find(file, exported) {
    const { exports, imports } = parts.get(file);
    const { from, name, type } = exports.find(({ as }) => as === exported);
    if (from !== undefined) return find(from, name);
    const imported = imports.find(({ as }) => as === name);
    return imported === undefined ? { file, name, type } : find(imported.from, imported.name);
  }

  const clear = (name) => (declared.get(name)?.size ?? 1) === 1;

  /** Says where a declaration is. Names the file only if several of the shared ones declare the name. */
  function placeOf({ file, name }) {
    if (!isShared(file)) return entries.find((entry) => entry.file === file).name;
    return [...(declared.get(name) ?? [])].filter(isShared).length > 1 ? file : "several entry points";
  }

  /** Returns the imports that a reader needs in order to know which declaration a name means. */
  const unclear = ({ imports }) =>
    imports.flatMap(({ as, from, name }) => {
      const found = find(from, name);
      if (as === found.name && clear(as)) return [];
      return [`import { ${renamed(found.name, as)} } from '${placeOf(found)}';`];
    });

  function entry({ name, file }) {
    const part = parts.get(file);
    const exported = new Set(); // the own declarations that the entry exports under their names
    const others = [];
    for (const { as } of part.exports) {
      const found = find(file, as);
      const values = part.declarations.some((each) => each.name === found.name && each.value);
      if (found.file === file && found.name === as && !(found.type && values)) exported.add(as);
      else {
        const place = found.file === file || clear(found.name) ? "" : ` /* of ${placeOf(found)} */`;
        others.push({ as, text: `${found.type ? "type " : ""}${renamed(found.name, as)}${place}` });
      }
    }
    const texts = others.sort(by("as")).map(({ text }) => text);
    const list = texts.length === 0 ? [] : [`export { ${texts.join(", ")} };`];
    const own = part.declarations.map((each) => (exported.has(each.name) ? each.exported : each.text));
    return section(name, [...part.references, ...part.outside, ...unclear(part), ...list], own);
  }

  const shared = [...parts].filter(([file]) => isShared(file)).map(([, part]) => part);
  const texts = shared
    .flatMap(({ declarations }) => declarations)
    .sort(by("name"))
    .map(({ text }) => text);
  const head = shared.flatMap((part) => [...part.references, ...part.outside, ...unclear(part)]);
  return [
    "What each entry point exports, and at the end what several of them use. `make fmt` writes this file from the built declarations.\n",
    ...entries.map(entry),
    ...(texts.length === 0 ? [] : [section("declarations of several entry points", [...new Set(head)].sort(), texts)]),
  ].join("\n");
}

const by = (key) => (a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);

const renamed = (name, as) => (name === as ? name : `${name} as ${as}`);

const section = (title, head, declarations) =>
  [`======== ${title} ========`, head.join("\n"), ...declarations]
    .filter((text) => text !== "")
    .map((text) => `${text}\n`)
    .join("\n");

/**
 * Reads a declaration file: what it exports and imports as `{ as, from, name, type }`, and its declarations as `{ name, value, text, exported }`.
 * `from` is another file of the package. `outside` has the imports from other packages.
 */
function read(file, text) {
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const part = { references: [], outside: [], imports: [], exports: [], declarations: [] };
  part.references = text.match(/^\/\/\/ <reference.*$/gm) ?? [];
  for (const statement of parsed.statements) {
    const full = text
      .slice(statement.pos, statement.end)
      .replace(/^\/\/\/ <reference.*$/gm, "")
      .trim();
    const specifier = statement.moduleSpecifier?.text;
    const from = specifier?.startsWith("./") ? specifier.slice(2).replace(/\.js$/, ".d.ts") : undefined;
    if (specifier !== undefined && from === undefined) part.outside.push(full);
    else if (ts.isImportDeclaration(statement))
      part.imports.push(...bindings(statement.importClause?.namedBindings, { from, type: false }));
    else if (ts.isExportDeclaration(statement))
      part.exports.push(...bindings(statement.exportClause, { from, type: statement.isTypeOnly }));
    else {
      const name = (statement.name ?? statement.declarationList?.declarations[0].name)?.text ?? "";
      const value = !ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement);
      const bare = text.slice(statement.getStart(parsed), statement.end);
      part.declarations.push({ name, value, text: full, exported: `${full.slice(0, -bare.length)}export ${bare}` });
    }
  }
  return part;
}

const bindings = (clause, { from, type }) =>
  (clause?.elements ?? []).map((each) => ({
    as: each.name.text,
    from,
    name: (each.propertyName ?? each.name).text,
    type: type || each.isTypeOnly,
  }));

function check(folder) {
  const [entries, dist, committed] = [entriesOf(folder), join(root, folder, "dist"), `${folder}/api.txt`];
  const missing = entries.filter(({ file }) => !existsSync(join(dist, file)));
  if (missing.length > 0) return missing.map(({ file }) => `${folder}/dist/${file} was not built`);
  const names = readdirSync(dist).filter((name) => name.endsWith(".d.ts"));
  const built = snapshot(
    entries,
    Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(dist, name), "utf8")])),
  );
  if (process.argv.includes("--write")) writeFileSync(join(root, committed), built);
  if (existsSync(join(root, committed)) && readFileSync(join(root, committed), "utf8") === built) return [];
  const diff = ["diff", "--no-index", "--no-color", "--", committed, "-"];
  spawnSync("git", diff, { cwd: root, input: built, stdio: ["pipe", "inherit", "inherit"] });
  return [`${committed} is not what was built; look at the difference, then: make fmt`];
}

if (isProgram(import.meta)) report(folders.flatMap(check), `the API of ${folders.length} packages is as committed`);
