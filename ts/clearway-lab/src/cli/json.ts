// SPDX-License-Identifier: MIT OR Apache-2.0
// `--json`: one JSON value on the standard output, for programs. Everything for people goes to the standard error.
import { print } from "./print.js";

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2) + "\n");
}
