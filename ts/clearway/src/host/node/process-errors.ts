// SPDX-License-Identifier: MIT OR Apache-2.0

const outOfMemoryText = "JavaScript heap out of memory";

// Maximum number of characters of the end of the output that an explanation has. Enough for the line in which Node refuses an option.
const shownMax = 300;

/** What a child process has written to its stderr, as far as it explains the process's end. */
export class ChildErrors {
  #tail = "";
  #outOfMemory = false;

  add(bytes: Uint8Array): void {
    const text = this.#tail + Buffer.from(bytes).toString("latin1");
    this.#outOfMemory ||= text.includes(outOfMemoryText);
    this.#tail = text.slice(-shownMax);
  }

  /** Returns the error of a process that V8 has aborted because its heap was full. V8 only prints this. */
  outOfMemory(how: number | string | undefined): { reason: unknown } | undefined {
    // A process that runs as a shell's child reports the signal as an exit code.
    if (!this.#outOfMemory || (how !== "SIGABRT" && how !== 134)) return undefined;
    const reason = new Error("the process reached the limit of its JavaScript heap");
    return { reason: Object.assign(reason, { code: "ERR_WORKER_OUT_OF_MEMORY" }) };
  }

  /** Adds to an explanation how the process has ended, and what it printed last. */
  explain(how: number | string | undefined, what: string): string {
    const end = typeof how === "string" ? `the signal ${how}` : `exit code ${how}`;
    const printed = this.#tail.trim();
    return `${what} (${end})${printed && `; it printed: ${Buffer.from(printed, "latin1").toString()}`}`;
  }
}
