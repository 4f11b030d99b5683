// SPDX-License-Identifier: MIT OR Apache-2.0
// A simple implementation of the standard codec, for comparison. It collects a message's parts in a list and joins them at the end. It
// checks nothing.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encode(value) {
  const parts = [];
  let size = 0;
  const add = (bytes) => {
    parts.push(bytes);
    size += bytes.length;
  };
  const number = (bytes, method, each) => {
    const view = new DataView(new ArrayBuffer(bytes));
    view[method](0, each, true);
    add(new Uint8Array(view.buffer));
  };
  const count = (each) => {
    if (each < 254) return add([each]);
    add([each <= 0xffff ? 254 : 255]);
    each <= 0xffff ? number(2, "setUint16", each) : number(4, "setUint32", each);
  };
  const pad = (to) => add(new Uint8Array((to - (size % to)) % to));
  const text = (each) => {
    const bytes = encoder.encode(each);
    count(bytes.length);
    add(bytes);
  };
  const list = (tag, each) => {
    add([tag]);
    count(each.length);
    pad(each.BYTES_PER_ELEMENT);
    add(new Uint8Array(each.buffer, each.byteOffset, each.byteLength));
  };
  const write = (each) => {
    if (each === null) return add([0]);
    if (typeof each === "boolean") return add([each ? 1 : 2]);
    if (Number.isInteger(each)) {
      const small = (each | 0) === each;
      add([small ? 3 : 4]);
      return small ? number(4, "setInt32", each) : number(8, "setBigInt64", BigInt(each));
    }
    if (typeof each === "number") {
      add([6]);
      pad(8);
      return number(8, "setFloat64", each);
    }
    if (typeof each === "string") {
      add([7]);
      return text(each);
    }
    if (each instanceof Uint8Array) return list(8, each);
    if (each instanceof Int32Array) return list(9, each);
    if (each instanceof Float64Array) return list(11, each);
    if (Array.isArray(each)) {
      add([12]);
      count(each.length);
      return each.forEach(write);
    }
    const entries = Object.entries(each);
    add([13]);
    count(entries.length);
    for (const [key, inside] of entries) {
      write(key);
      write(inside);
    }
  };
  write(value);
  const message = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

export function decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const count = () => {
    const first = bytes[at++];
    if (first < 254) return first;
    at += first === 254 ? 2 : 4;
    return first === 254 ? view.getUint16(at - 2, true) : view.getUint32(at - 4, true);
  };
  const pad = (to) => {
    at += (to - (at % to)) % to;
  };
  const take = (size) => {
    at += size;
    return bytes.slice(at - size, at);
  };
  const list = (List) => {
    const size = count();
    pad(List.BYTES_PER_ELEMENT);
    return new List(take(size * List.BYTES_PER_ELEMENT).buffer);
  };
  const read = () => {
    const tag = bytes[at++];
    if (tag === 0) return null;
    if (tag <= 2) return tag === 1;
    if (tag === 3) return new DataView(take(4).buffer).getInt32(0, true);
    if (tag === 4) return Number(new DataView(take(8).buffer).getBigInt64(0, true));
    if (tag === 6) {
      pad(8);
      return new DataView(take(8).buffer).getFloat64(0, true);
    }
    if (tag === 7) return decoder.decode(take(count()));
    if (tag === 8) return list(Uint8Array);
    if (tag === 9) return list(Int32Array);
    if (tag === 11) return list(Float64Array);
    const size = count();
    if (tag === 12) return Array.from({ length: size }, read);
    return Object.fromEntries(Array.from({ length: size }, () => [read(), read()]));
  };
  return read();
}
