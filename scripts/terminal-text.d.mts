// SPDX-License-Identifier: MIT OR Apache-2.0
export function visible(text: string): string;
