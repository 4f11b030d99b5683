// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const script = fileURLToPath(new URL("../../scripts/setup.sh", import.meta.url));
let programs: string;

/** Runs set-up with only these programs on the PATH. */
function setUp(path: string, ...parts: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("/bin/sh", [script, ...parts], {
    env: { PATH: path },
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "clearway-setup-"));
  symlinkSync("/usr/bin/dirname", join(programs, "dirname"));
});
afterAll(() => rmSync(programs, { recursive: true }));

test("set-up says what to install when Node is missing", () => {
  const { status, said } = setUp(programs, "node");
  expect(status).toBe(1);
  expect(said).toContain("Node and npm are missing");
  expect(said).toContain("20.19");
});

test("set-up names the version of a Node that is too old", () => {
  const old = '#!/bin/sh\ncase "$1" in -p) echo 18.20.4 ;; *) exit 1 ;; esac\n';
  for (const name of ["node", "npm"]) {
    writeFileSync(join(programs, name), old);
    chmodSync(join(programs, name), 0o755);
  }
  const { status, said } = setUp(programs, "node");
  expect(status).toBe(1);
  expect(said).toContain("Node 18.20.4 is too old");
});

test("set-up prints nothing when everything is installed", () => {
  expect(setUp(process.env.PATH ?? "", "node")).toEqual({ status: 0, said: "" });
});

/** Makes a folder with these programs, as shell scripts, beside the few programs of the system that set-up needs. */
function systemWith(name: string, scripts: Record<string, string>): string {
  const folder = join(programs, name);
  mkdirSync(folder);
  for (const tool of ["dirname", "sed", "head"]) symlinkSync(`/usr/bin/${tool}`, join(folder, tool));
  for (const [program, text] of Object.entries(scripts)) {
    writeFileSync(join(folder, program), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, program), 0o755);
  }
  return folder;
}

const root = "echo 0";

test("set-up waits for a lock of apt or dpkg, names the process that holds it, and goes on", () => {
  const held = (path: string) => `E: Could not get lock ${path}. It is held by process 42 (unattended-upgr)`;
  const folder = systemWith("locked", {
    id: root,
    sleep: "",
    "apt-get": `here=\${0%/*}
      echo "$*" >> "$here/calls"
      case "$(sed -n '$=' "$here/calls")" in
        1) echo "${held("/var/lib/apt/lists/lock")}" >&2; exit 100 ;;
        3) echo "${held("/var/lib/dpkg/lock-frontend")}" >&2; exit 100 ;;
      esac`,
  });
  const { status, said } = setUp(folder, "--strict", "jvm");
  expect({ status, said: said.split("\n") }).toMatchObject({
    status: 0,
    said: expect.arrayContaining([
      "set-up: waiting for process 42 (unattended-upgr), which holds /var/lib/apt/lists/lock",
      "set-up: waiting for process 42 (unattended-upgr), which holds /var/lib/dpkg/lock-frontend",
    ]),
  });
  const calls = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  expect(calls.map((call) => call.split(" ")[0])).toEqual(["update", "update", "install", "install", "install"]);
});

test("set-up gives up a lock that is held for five minutes", () => {
  const folder = systemWith("held", {
    id: root,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell replaces it.
    sleep: 'echo "$1" >> "${0%/*}/slept"',
    "apt-get": "echo 'E: Could not get lock /l. It is held by process 42 (dpkg)' >&2; exit 100",
  });
  const { status, said } = setUp(folder, "--strict", "jvm");
  expect(status).toBe(1);
  expect(said).toContain("stopped, because these could not be installed: a JDK, Maven.");
  const slept = readFileSync(join(folder, "slept"), "utf8").trim().split("\n").map(Number);
  expect(slept.reduce((sum, seconds) => sum + seconds, 0)).toBe(3 * 300); // for the lists, and for each package
});

test("strict set-up fails with the name of every tool that could not be installed; else set-up goes on", () => {
  const broken = systemWith("broken", { id: root, "apt-get": "echo 'E: Unable to locate package' >&2; exit 100" });
  const strict = setUp(broken, "--strict", "jvm", "prometheus");
  expect(strict.status).toBe(1);
  expect(strict.said).toContain("E: Unable to locate package");
  expect(strict.said).toContain("stopped, because these could not be installed: a JDK, Maven, Prometheus.");
  expect(setUp(broken, "jvm", "prometheus").status).toBe(0);
});

test("strict set-up fails where the user may not install a needed tool, and goes on without an optional one", () => {
  const user = systemWith("user", { id: "echo 1000", "apt-get": "exit 1" });
  const { status, said } = setUp(user, "--strict", "jvm", "prometheus");
  expect(status).toBe(1);
  expect(said).toContain("Prometheus is missing. Add it with: sudo apt-get");
  expect(said).toContain("stopped, because these could not be installed: a JDK, Maven.");
});

test("set-up says where Swift comes from and goes on when Swift cannot be installed", () => {
  const { status, said } = setUp(programs, "swift");
  expect(status).toBe(0);
  expect(said).toContain("https://swift.org/install");
});

test("set-up refuses an unknown part", () => {
  const { status, said } = setUp(programs, "chromum");
  expect(status).toBe(2);
  expect(said).toContain(
    "unknown part: chromum (node, chromium, engines, postgresql, prometheus, nats, python, jvm, xvfb, flutter, sqlite, rust, cross, swift, tools)",
  );
});
