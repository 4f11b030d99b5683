// SPDX-License-Identifier: MIT OR Apache-2.0
// koffi with a library in C. The library's echo copies the bytes of a call into memory that the caller provides.

import { loadPlain } from "../native/peers.js";
import type { Mechanism } from "../protocol/measured.js";
import { bytesOf, nativeChannel, type OpenNative } from "./native.js";

/** Opens a caller of the mechanism `koffi`. */
export const openNativeKoffi: OpenNative = async (params, direction) => {
  const { ffi, library } = await loadPlain();
  const bytes = ffi.pointer("uint8_t");
  const echo = library.func("lab_echo", "void", [bytes, bytes, "size_t"]);
  const { write, read, encodes } = bytesOf(params);
  const isNothing = params.payload === "null" && params.channel === "message";
  let copied = 0;
  const common = { copiedBytes: () => copied, close: () => {} };
  const given = (value: unknown): Uint8Array => (isNothing ? new Uint8Array(0) : write(value));
  const got = (out: Uint8Array): unknown => (isNothing ? null : read(out));

  if (direction === "native to host") {
    const slab = new Uint8Array(1 << 16);
    const place = (message: Uint8Array): number => {
      slab.set(message);
      // Counts two copies: packing the message, and copying it into the slab.
      copied += 2 * message.length;
      return message.length;
    };
    // The native code passes the number of bytes in the slab and receives the number of bytes of the answer. The call and its
    // answer use the same slab.
    const answer = (size: number | bigint) => place(write(read(slab.subarray(0, Number(size)))));
    const pointer = ffi.register(answer, ffi.pointer(ffi.proto("size_t LabAnswer(size_t size)")));
    const ask = library.func("lab_ask", "size_t", [ffi.pointer("LabAnswer"), "size_t"]);
    const call = (value: unknown): unknown => {
      const size = Number(ask(pointer, place(write(value))));
      // Copies the answer, because the next message overwrites the slab.
      return read(slab.slice(0, size));
    };
    const close = () => ffi.unregister(pointer);
    return { ...common, call: async (value) => call(value), callNow: call, close };
  }

  const call = (value: unknown): unknown => {
    const message = given(value);
    const out = new Uint8Array(message.length);
    echo(message, out, message.length);
    copied += (encodes ? 2 : 1) * message.length;
    return got(out);
  };
  if (direction === "host to native") return { ...common, call: async (value) => call(value), callNow: call };
  return {
    ...common,
    // Runs on a thread of libuv's pool. The bytes must not change until the answer arrives, so packed bytes are copied first.
    call: (value) =>
      new Promise((resolve, reject) => {
        const message = encodes ? given(value).slice() : given(value);
        const out = new Uint8Array(message.length);
        copied += (encodes ? 3 : 1) * out.length;
        echo.async(message, out, message.length, (error: Error | null) => (error ? reject(error) : resolve(got(out))));
      }),
  };
};

export const nativeKoffi: Record<string, Mechanism> = { koffi: nativeChannel(openNativeKoffi) };
