// SPDX-License-Identifier: MIT OR Apache-2.0
// Node's own channel to a child process: `child.send` with serialization "advanced", which sends structured clones through a pipe.
import { serializer } from "#lab-host";
import { Answers } from "./answers.js";
import type { Caller } from "./caller.js";
import type { ProcessKind } from "./process-kind.js";

interface Letter {
  id: number;
  value: unknown;
  method?: string;
}

export const ipcKind: ProcessKind = {
  ipc: "advanced",
  open(child, { channel }): Caller {
    const answers = new Answers();
    let copied = 0;
    let size = 0;
    child.on("message", (message) => {
      const { id, value } = message as Letter;
      copied += size;
      answers.answer(id, value);
    });
    return {
      call: (value) =>
        answers.ask((id) => {
          const letter: Letter = channel === "method" ? { id, method: "test", value } : { id, value };
          size ||= serializer.size(serializer.encode(letter));
          copied += size;
          child.send(letter);
        }),
      copiedBytes: () => copied,
      close: () => child.disconnect(),
    };
  },
  serve() {
    process.on("message", (message) => {
      const { id, value } = message as Letter;
      process.send?.({ id, value });
    });
  },
};
