// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's import rules as data. `make check` checks the code against them. ARCHITECTURE.md prints them, and `make fmt` writes them there.
import { posix } from "node:path";

const source = "ts/clearway-lab/src/";

/**
 * The rules for the folders of the lab's source. Every folder must be listed here. A folder may always import itself. From the
 * folders in `types`, it may import types only, because their code runs in another thread.
 * @type {Record<string, { may: string[], types?: string[], why: string }>}
 */
export const labFolders = {
  protocol: { may: [], why: "the messages between the lab and its runners, and what measured code returns" },
  statistics: { may: [], why: "distributions, rounds, stalls, the warm-up of measured code, random orders; pure" },
  machine: { may: [], why: "facts about the machine and the build, positions of threads, the idle watcher" },
  scenario: { may: ["machine", "protocol", "statistics"], why: "scenarios as data, and the plan of a run" },
  browser: { may: ["machine"], why: "finds Chromium, Firefox and WebKitGTK, and opens pages in them" },
  run: {
    may: ["engine", "machine", "protocol", "scenario", "statistics"],
    why: "`--profile published`: measures a plan; the record, its figures and the findings of the authors",
  },
  engine: {
    may: ["browser", "machine", "protocol", "runner", "statistics"],
    types: ["arm"],
    why: "the engine of `clearway lab`: the comparisons, arms that take turns, the estimator, the plan of a run's time",
  },
  report: {
    may: ["engine", "jank", "protocol", "ratio", "run", "scenario", "statistics"],
    types: ["bench"],
    why: "results as text, tables, charts and a page",
  },
  export: { may: ["engine", "report", "run"], why: "a run in the formats of other tools" },
  host: { may: ["protocol"], why: "what Node and the browser do differently, and nothing more" },
  native: { may: ["machine"], why: "compiles the native peers, opens the example plugin" },
  isolate: {
    may: ["host", "protocol", "statistics"],
    types: ["work"],
    why: "family: work that leaves the main thread",
  },
  memory: { may: ["host", "native", "protocol"], why: "family: buffers that native code fills" },
  push: { may: ["host", "protocol", "statistics"], types: ["work"], why: "family: live streams" },
  channel: {
    may: ["host", "native", "protocol", "statistics"],
    why: "family: messages to workers, processes and native code",
  },
  codec: { may: ["channel", "host", "protocol", "statistics"], why: "family: the codecs of channels" },
  flutter: {
    may: ["channel", "codec", "host", "machine", "protocol"],
    why: "Flutter's own engine as a peer: its process, its codecs, its channels; the worker that Clearway's channels call instead",
  },
  remote: {
    may: ["channel", "host", "machine", "protocol"],
    types: ["work"],
    why: "family: calls to other processes over NATS; the server and the worker processes that they need",
  },
  arm: {
    may: ["channel", "host", "isolate", "memory", "native", "protocol", "push", "remote"],
    types: ["work"],
    why: "the arms of the engine: one process or page with one mechanism, and the work that it is asked for",
  },
  work: {
    may: ["arm", "channel", "flutter", "host", "isolate", "push", "remote"],
    why: "what runs in the measured workers and processes; one file per entry",
  },
  "user-code": { may: ["machine"], why: "compiles a user's file and the worker files that it starts" },
  bench: {
    may: ["engine", "host"],
    types: ["arm"],
    why: "the commands `bench` and `measure`: scenarios, their ways, the comparisons; also the package's entry for programs",
  },
  runner: {
    may: [
      ...["arm", "bench", "browser", "channel", "codec", "flutter", "host", "isolate", "machine", "memory"],
      ...["native", "protocol", "push", "remote", "statistics"],
    ],
    types: ["engine"],
    why: "the runners for Node and browsers, the page and its server, the fixtures",
  },
  ratio: {
    may: ["browser", "engine", "machine", "runner", "statistics"],
    why: "the command `ratio`: the same work on two devices, the page for the other one, and budgets in its time",
  },
  jank: {
    may: ["browser", "machine", "ratio", "runner", "statistics"],
    why: "measures a page or a script of a user, and explains its stalls",
  },
  cli: {
    may: [
      ...[
        "bench",
        "browser",
        "engine",
        "export",
        "jank",
        "machine",
        "native",
        "protocol",
        "ratio",
        "remote",
        "report",
        "run",
        "runner",
      ],
      ...["scenario", "statistics", "user-code"],
    ],
    why: "the command `clearway`; imported by no other folder",
  },
};

/** The imports that the build replaces with the host's own file, and the folder that has these files. */
const aliases = {
  "#lab-host": "host",
  "#lab-node-arms": "arm",
  "#lab-pool-peers": "isolate",
  "#lab-node-only": "runner",
};

/** Returns whether the specifier that begins at `pos` is imported only for its types. */
export function isTypeImport(text, pos) {
  const before = text.slice(0, pos);
  return /\b(import|export) type\b[^;"]*$/.test(before) || /\btypeof import\(\s*"?$/.test(before);
}

/** Returns why a file of the lab must not import `specifier`, which begins at `pos` in `text`. Returns undefined if it may. */
export function labImportProblem(path, text, specifier, pos) {
  if (!path.startsWith(source)) return undefined;
  const folder = path.slice(source.length).split("/")[0];
  const rule = labFolders[folder];
  if (rule === undefined) return `lab-import-rules.mjs has no rule for ${folder}; add one that says what it may import`;
  const to = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
  const other = aliases[specifier] ?? (to?.startsWith(source) ? to.slice(source.length).split("/")[0] : undefined);
  if (other === undefined || other === folder || rule.may.includes(other)) return undefined;
  if (rule.types?.includes(other))
    return isTypeImport(text, pos) ? undefined : `${folder} may import only types from ${other}`;
  return `${folder} may import ${rule.may.join(", ") || "nothing"} of the lab`;
}

/** Returns the row of a folder in a table of ARCHITECTURE.md. */
export function ruleRow(folder, { may, types, why }) {
  const named = (names) => names.map((name) => `\`${name}\``).join(", ");
  const all = [named(may), types && `types of ${named(types)}`].filter(Boolean).join("; ");
  return `| \`${folder}\` | ${all || "nothing"} | ${why} |`;
}

/** Returns the lines of the table in ARCHITECTURE.md. */
export function labRulesTable() {
  const rows = Object.entries(labFolders).map(([folder, rule]) => ruleRow(folder, rule));
  return ["| in `ts/clearway-lab/src` | may import | what it is |", "|---|---|---|", ...rows];
}
