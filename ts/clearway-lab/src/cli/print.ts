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

// `--json`: one JSON value on the standard output, for programs. Everything for people goes to the standard error.

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2) + "\n");
}

/**
 * Keeps the command free of stacks when its output closes. A reader such as `head` ends the command. A closed terminal does not: the lab
 * still writes the files of its run. Other errors, such as that of a full disk, end it with status 1.
 */
export function tolerateClosedOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EIO") return;
    if (code === "EPIPE") process.exit();
    printError(`error: the output could not be written: ${message}\n`);
    process.exit(1);
  });
  process.stderr.on("error", () => {});
}
