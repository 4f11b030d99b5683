// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that the command prints goes through here, because a page, a record or another process may have written a part of it.
import { terminalText } from "../report/colours.js";

/** Prints a text to the standard output. Makes control characters visible, except those of the lab's own colours. */
export function print(text: string, stream: { write(text: string): unknown } = process.stdout): void {
  stream.write(terminalText(text));
}

/** Prints a text to the standard error. */
export function printError(text: string): void {
  print(text, process.stderr);
}

/** Prints an error that nothing has caught, and ends the command. Node would print its text as it is. */
export function printUncaught(error: unknown): void {
  printError(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
