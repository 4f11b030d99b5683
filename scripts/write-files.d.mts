// SPDX-License-Identifier: MIT OR Apache-2.0
export function writeFiles(
  contents: Readonly<Record<string, string | Uint8Array>>,
  options?: { readonly mode?: number },
): void;
