// SPDX-License-Identifier: MIT OR Apache-2.0
export const plugins: {
  c: Record<"example" | "misbehave" | "sqlite", string>;
  rust: Record<"example" | "misbehave" | "safe" | "image" | "sensor", string>;
};
/** The library with which languages other than JavaScript load plugins. */
export const libclearway: string;
export const toolchains: { c: boolean; rust: boolean };
