// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callers, Pool } from "clearway";
import { ClearwayError } from "clearway/remote";
import type { AnyModule, ServeLimits } from "../options/serve.js";
import type { Charge } from "../wire/parts.js";

/** What all callers of a server use together. */
export interface Total {
  /** Number of calls whose work has not ended. */
  open: number;
  bytes: number;
}

/** One caller of a server: the pool with one inbox. What its calls use is charged to it. */
export class Account implements Charge {
  /** Number of calls whose work has not ended. A cancelled call counts until its task has ended, or has left the pool's queue. */
  open = 0;
  bytes = 0;
  /** Number of signs of life that this process gave since the caller's last message. */
  silent = 0;
  /** The tokens of its calls that the next sign of life names. */
  tokens: string[] = [];
  readonly inbox: string;
  /** The memory of messages to the caller. While the network is slower than the messages, it is returned when they have left this process. */
  readonly sending: Charge;
  readonly #limits: Required<ServeLimits>;
  readonly #total: Total;
  readonly #pool: Pool<AnyModule>;
  #controller: AbortController | undefined;
  #plain: Callers<AnyModule> | undefined;

  constructor(
    inbox: string,
    pool: Pool<AnyModule>,
    limits: Required<ServeLimits>,
    total: Total,
    drained: () => Promise<void> | undefined,
  ) {
    this.sending = {
      take: (bytes) => this.take(bytes),
      give: (bytes) => {
        const leave = drained();
        if (leave) void leave.then(() => this.give(bytes));
        else this.give(bytes);
      },
    };
    this.inbox = inbox;
    this.#pool = pool;
    this.#limits = limits;
    this.#total = total;
  }

  /**
   * Returns the tasks for calls without options. Those of long tasks share one signal, because only the end of their caller cancels them. A
   * signal makes the pool send calls one by one, which would cost short tasks half of their throughput.
   */
  plain(long: boolean): Callers<AnyModule> {
    if (!long) return this.#pool.call;
    if (this.#plain === undefined) {
      this.#controller = new AbortController();
      this.#plain = this.#pool.with({ signal: this.#controller.signal }).call;
    }
    return this.#plain;
  }

  /** Cancels the calls without options. */
  abandon(why: ClearwayError): void {
    this.#controller?.abort(why);
    this.#controller = this.#plain = undefined;
  }

  /** Counts a call. */
  enter(): void {
    this.open++;
    this.#total.open++;
  }

  /** Counts a call no longer, because its work has ended. */
  leave(): void {
    this.open--;
    this.#total.open--;
  }

  take(bytes: number): void {
    const { bytesPerCallerMax, bytesMax } = this.#limits;
    if (this.bytes + bytes > bytesPerCallerMax)
      throw new ClearwayError(
        "queue-full",
        `the caller's messages would take more than ${bytesPerCallerMax} bytes here`,
      );
    if (this.#total.bytes + bytes > bytesMax)
      throw new ClearwayError("queue-full", `all callers' messages would take more than ${bytesMax} bytes here`);
    this.bytes += bytes;
    this.#total.bytes += bytes;
  }

  give(bytes: number): void {
    this.bytes -= bytes;
    this.#total.bytes -= bytes;
  }
}
