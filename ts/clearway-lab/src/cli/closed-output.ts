// SPDX-License-Identifier: MIT OR Apache-2.0
import { printError } from "./print.js";

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
