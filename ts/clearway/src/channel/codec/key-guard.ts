// SPDX-License-Identifier: MIT OR Apache-2.0

// V8 finds numbers and big integers in a Map by hashes without a seed, and looks at the lowest 64 bits of a big integer alone. So a peer
// can choose keys that all fall together: 40,000 of them, in 240 KB, took 5 s (int32) and 14 s (big integers) to put into a Map in Node 20,
// where others take 13 ms. Texts have a seed, and objects no hash that a peer could choose. Here keys are counted by the same hashes; of
// another engine's they say nothing, and refuse nothing that is not made for it.

// Maps of fewer such keys cost little, however they are chosen: 256 take 0.4 ms.
const keysMin = 256;
// How many keys of one hash are too many, where one would be expected. Chance has 12 at most among 8 million.
const togetherMax = 64;

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** The guard of a map that announces so many entries; none where they are few. */
export function guardFor(count: number): KeyGuard | undefined {
  return count > keysMin ? new KeyGuard(count) : undefined;
}

/** Counts the keys of a map that is read. */
export class KeyGuard {
  #keys = 0;
  #counts: Uint8Array | undefined;
  /** How many entries the map has announced; they were checked against what is left of the message. */
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  /** A new key is in the map. True when too many have fallen together. */
  crowded(key: unknown): boolean {
    if ((typeof key !== "number" && typeof key !== "bigint") || ++this.#keys <= keysMin) return false;
    this.#counts ??= new Uint8Array(2 ** Math.min(Math.ceil(Math.log2(this.#count)), 20));
    const counts = this.#counts;
    const at = hashOf(key) & (counts.length - 1);
    const most = togetherMax + (this.#count / counts.length) * 4;
    return ++counts[at]! > Math.min(most, 255);
  }
}

function hashOf(key: number | bigint): number {
  if (typeof key === "bigint") return longHash(BigInt.asUintN(64, key < 0n ? -key : key));
  if (key === (key | 0)) return intHash(key);
  float[0] = key;
  return longHash(bits[0]!);
}

function intHash(key: number): number {
  let hash = (~key + (key << 15)) | 0;
  hash ^= hash >>> 12;
  hash = (hash + (hash << 2)) | 0;
  hash ^= hash >>> 4;
  hash = Math.imul(hash, 2057);
  return hash ^ (hash >>> 16);
}

function longHash(key: bigint): number {
  let hash = BigInt.asUintN(64, ~key + (key << 18n));
  hash ^= hash >> 31n;
  hash = BigInt.asUintN(64, hash * 21n);
  hash ^= hash >> 11n;
  hash = BigInt.asUintN(64, hash + (hash << 6n));
  hash ^= hash >> 22n;
  return Number(BigInt.asUintN(30, hash));
}
