// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../error/wire.js";
import { errors } from "./parts.js";
import { plain } from "./plain-error.js";

// Errors are taken apart, and made again, by a part that is loaded behind the first call. Before that, and where it cannot be
// loaded, they cross with less.

/** Describes what was thrown, now or when the part is there. `use` is called once, and must not throw. */
export function encoded(reason: unknown, use: (wire: WireError) => void): void {
  if (errors.now !== undefined) return use(errors.now.encodeError(reason));
  errors.load().then(
    ({ encodeError }) => use(encodeError(reason)),
    () => use(plain(reason)),
  );
}

/** Makes a reason again, now or when the part is there. `use` is called once, and must not throw. */
export function decoded(wire: WireError, use: (reason: unknown) => void): void {
  if (errors.now !== undefined) return use(errors.now.decodeError(wire));
  errors.load().then(
    ({ decodeError }) => use(decodeError(wire)),
    (cause) => use("base" in wire ? new Error(wire.message, { cause }) : wire.value),
  );
}
