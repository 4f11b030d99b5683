// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts the part `executor`, a JVM that runs parts/Executor.java. The JVM reads its parent's commands from standard input, one JSON text a
// line, and writes its messages to standard output in the same way.
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { folder, jdks } from "../scripts/maven.mjs";

const source = fileURLToPath(new URL("parts/Executor.java", import.meta.url));
const classes = join(folder, "executor/target/classes");
// The standard library that jvm/pom.xml names.
const kotlinVersion = /<kotlin\.version>([^<]+)</.exec(readFileSync(join(folder, "pom.xml"), "utf8"))?.[1];
const kotlin = join(
  homedir(),
  `.m2/repository/org/jetbrains/kotlin/kotlin-stdlib/${kotlinVersion}/kotlin-stdlib-${kotlinVersion}.jar`,
);

/** Says what the part needs that is missing, or returns undefined. */
export function executorMissing() {
  if (jdks().size === 0) return "no JDK 17 or newer was found";
  const missing = [classes, kotlin].filter((path) => !existsSync(path));
  return missing.length === 0 ? undefined : "the executor is not compiled (node scripts/jvm.mjs compile)";
}

/** Starts the JVM. Returns the parts of a `ChildProcess` that the soak uses. */
export function startExecutor({ seed }) {
  const found = jdks();
  const home = found.get(Math.max(...found.keys()));
  const java = spawn(join(home, "bin/java"), ["-Xmx256m", "-cp", `${classes}:${kotlin}`, source, String(seed)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const child = new EventEmitter();
  createInterface(java.stdout).on("line", (line) => child.emit("message", JSON.parse(line)));
  java.stdin.on("error", () => {});
  java.on("error", (error) => child.emit("error", error));
  java.on("close", (code, signal) => {
    child.connected = false;
    child.emit("exit", code, signal);
  });
  return Object.assign(child, {
    connected: true,
    send: (message) => java.stdin.write(`${JSON.stringify(message)}\n`),
    kill: (signal) => java.kill(signal),
  });
}
