// SPDX-License-Identifier: MIT OR Apache-2.0
// A bare port with an id map. `cloneKind` sends values by structured clone; `moveKind` sends bytes by transfer.
import { serializer } from "#lab-host";
import { Answers } from "./answers.js";
import type { Caller, PortKind } from "./caller.js";
import type { Row } from "./row.js";

interface Letter {
  id: number;
  value: unknown;
  method?: string;
}

const letter = ({ channel }: Row, id: number, value: unknown): Letter =>
  channel === "method" ? { id, method: "test", value } : { id, value };

export const cloneKind: PortKind = {
  open(end, row): Caller {
    const answers = new Answers();
    let copied = 0;
    // A port does not report its copies. This counts the bytes that v8.serialize writes: the port's serializer writes the same bytes.
    let size: number | undefined;
    end.listen((message) => {
      const { id, value } = message as Letter;
      copied += size ?? 0;
      answers.answer(id, value);
    });
    return {
      call: (value) =>
        answers.ask((id) => {
          const message = letter(row, id, value);
          size ??= serializer?.size(serializer.encode(message));
          copied += size ?? 0;
          end.post(message);
        }),
      ...(serializer && { copiedBytes: () => copied }),
      close: () => end.close(),
    };
  },
  serve(end) {
    end.listen((message) => {
      const { id, value } = message as Letter;
      end.post({ id, value });
    });
  },
};

const bufferOf = (value: unknown) => (value as Uint8Array).buffer as ArrayBuffer;

/** Sends bytes only. Each message transfers their buffer, and each answer transfers it back. */
export const moveKind: PortKind = {
  open(end, row): Caller {
    const answers = new Answers();
    end.listen((message) => {
      const { id, value } = message as Letter;
      answers.answer(id, value);
    });
    return {
      moves: true,
      call: (value) => answers.ask((id) => end.post(letter(row, id, value), [bufferOf(value)])),
      // A transfer copies no bytes. It leaves the sender's buffer empty.
      copiedBytes: () => 0,
      close: () => end.close(),
    };
  },
  serve(end) {
    end.listen((message) => {
      const { id, value } = message as Letter;
      end.post({ id, value }, [bufferOf(value)]);
    });
  },
};
