// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether this build has records: the package lists the entry, and its file exists.
import { existsSync, readFileSync } from "node:fs";

const folder = new URL("../../ts/clearway/", import.meta.url);
const entry = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")).exports["./records"]?.node;

export const hasRecords = typeof entry === "string" && existsSync(new URL(entry, folder));
export const noRecords = "this build has no entry clearway/records";
