// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node main.js [FILE]
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pool } from "clearway";
import { startInbox } from "./inbox.js";

const folder = await mkdtemp(join(tmpdir(), "clearway-upload-"));
const path = process.argv[2] ?? join(folder, "film.raw");
if (!process.argv[2]) await writeFile(path, randomBytes(10_000_000));
const inbox = await startInbox();

/** @type {import("clearway").Pool<typeof import("./upload.tasks.js")>} */
const workers = pool(new URL("./upload.tasks.js", import.meta.url));

/** @param {{ sentBytes: number, totalBytes: number }} progress */
function onProgress({ sentBytes, totalBytes }) {
  const percent = Math.round((sentBytes / totalBytes) * 100);
  console.log("#".repeat(percent / 4).padEnd(25, "."), `${percent} %`);
}

try {
  const { sentBytes } = await workers.with({ onProgress, deadlineMs: 60_000 }).call.upload(path, inbox.url);
  console.log(`sent ${sentBytes} bytes, received ${inbox.receivedBytes()}`);
} finally {
  await workers.close();
  inbox.close();
  await rm(folder, { recursive: true });
}
