// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker process of the family `remote`: see remote/open.ts. Writes one JSON line when it answers calls.
import { kindOf, type WorkerArguments } from "../remote/open.js";

const { kind, place } = JSON.parse(process.argv[2] ?? "null") as WorkerArguments;
// The measuring process may end without a word.
process.stdin.resume().on("end", () => process.exit(0));
await (await kindOf(kind)).serve(place);
process.stdout.write("{}\n");
